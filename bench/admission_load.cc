// SPDX-License-Identifier: Apache-2.0
// Loads an HTTPS server as the API server does: keep-alive connections, one request at a time on
// each. Without `rate` as fast as it can; with one, each request has its moment, and its latency
// counts from there, so that a slow answer is not hidden by those that had to wait for it.
//   admission_load port=N pid=N body=FILE path=/admit/job [clients=4] [seconds=3 | count=N]
//   [rate=N] [status=200] [cert=FILE key=FILE]
// NUMBER in the body becomes the number of the request, six digits: so it also fills an API server
// with objects.
// Prints: requests, how many had another status than `status`, the server's CPU in microseconds per
// request, p50 and p99 in microseconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using Time = std::chrono::steady_clock;
using Micros = std::chrono::microseconds;

struct Plan {
  int port, pid, clients, status;
  double seconds, rate;
  long count;  // 0: until the time is over
  std::string request;
  std::string cert, key;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "admission_load: %s\n", what);
  std::exit(1);
}

// The server's time on all processors (proc(5)): finer than the ticks of /proc/PID/stat.
double cpu_micros(int pid) {
  double sum = 0;
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) != 0) fail("no such process");
  timespec t{};
  clock_gettime(clock, &t);
  sum += static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
  return sum;
}

class Connection {
 public:
  explicit Connection(const Plan& plan) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(plan.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) fail("cannot connect");
    context_ = SSL_CTX_new(TLS_client_method());
    if (!plan.cert.empty() &&
        (SSL_CTX_use_certificate_chain_file(context_, plan.cert.c_str()) != 1 ||
         SSL_CTX_use_PrivateKey_file(context_, plan.key.c_str(), SSL_FILETYPE_PEM) != 1))
      fail("no certificate");
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd_);
    if (SSL_connect(ssl_) != 1) fail("no TLS");
  }
  ~Connection() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int ask(const std::string& request) {  // the status
    if (SSL_write(ssl_, request.data(), static_cast<int>(request.size())) <= 0) fail("cut off");
    std::string answer;
    std::size_t whole = 0;
    while (whole == 0 || answer.size() < whole) {
      char buffer[16384];
      const int got = SSL_read(ssl_, buffer, sizeof(buffer));
      if (got <= 0) fail("cut off");
      answer.append(buffer, static_cast<std::size_t>(got));
      const std::size_t end = answer.find("\r\n\r\n");
      const std::size_t length = answer.find("Content-Length: ");
      if (whole == 0 && end != std::string::npos && length < end) {
        whole = end + 4 + static_cast<std::size_t>(std::atol(answer.c_str() + length + 16));
      }
      if (whole == 0 && end != std::string::npos && answer.ends_with("\r\n0\r\n\r\n"))
        whole = answer.size();  // chunked
    }
    return std::atoi(answer.c_str() + 9);
  }

 private:
  int fd_;
  SSL_CTX* context_;
  SSL* ssl_;
};

struct CronJobStateCounter {
  std::vector<Micros> latencies;
  long wrong = 0;
};

std::string numbered(std::string request, long number) {
  const std::size_t at = request.find("NUMBER");
  if (at == std::string::npos) return request;
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06ld", number % 1'000'000);
  return request.replace(at, 6, digits);
}

CronJobStateCounter load(const Plan& plan, Connection& connection, Time::time_point start,
                         std::atomic<long>& next) {
  CronJobStateCounter cronjob_states;
  const auto end = start + std::chrono::duration_cast<Time::duration>(
                               std::chrono::duration<double>(plan.seconds));
  for (;;) {
    const long mine = next++;
    auto moment = Time::now();
    if (plan.rate > 0) {
      moment = start + std::chrono::duration_cast<Time::duration>(
                           std::chrono::duration<double>(static_cast<double>(mine) / plan.rate));
      std::this_thread::sleep_until(moment);
    }
    if (plan.count > 0 ? mine >= plan.count : moment >= end) return cronjob_states;
    if (connection.send(numbered(plan.request, mine)) != plan.status) ++cronjob_states.wrong;
    cronjob_states.latencies.push_back(std::chrono::duration_cast<Micros>(Time::now() - moment));
  }
}

long part(const std::vector<Micros>& sorted, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[index].count();
}

void run(const Plan& plan) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < plan.clients; ++i) {
    connections.push_back(std::make_unique<Connection>(plan));
    // Warm: the handshake is not what is measured.
    if (plan.status == 200) connections.back()->send(numbered(plan.request, 0));
  }
  std::atomic<long> next{0};
  std::vector<CronJobStateCounter> tallies(connections.size());
  const double cpu = cpu_micros(plan.pid);
  const auto start = Time::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    threads.emplace_back([&, i] { tallies[i] = load(plan, *connections[i], start, next); });
  }
  for (auto& thread : threads) thread.join();
  const double spent = cpu_micros(plan.pid) - cpu;
  std::vector<Micros> all;
  long wrong = 0;
  for (const CronJobStateCounter& cronjob_states : tallies) {
    all.insert(all.end(), cronjob_states.latencies.begin(), cronjob_states.latencies.end());
    wrong += cronjob_states.wrong;
  }
  if (all.empty()) fail("nothing was asked");
  std::sort(all.begin(), all.end());
  std::printf("%zu %ld %.1f %ld %ld\n", all.size(), wrong, spent / static_cast<double>(all.size()),
              part(all, 0.5), part(all, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> words = {
      {"clients", "4"}, {"seconds", "3"}, {"count", "0"}, {"rate", "0"}, {"status", "200"}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  std::ifstream file(words["body"], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (body.empty()) fail("no body=FILE");
  const std::string request = "POST " + words["path"] +
                              " HTTP/1.1\r\nHost: cronlatch-webhook.cronlatch.svc\r\n"
                              "Content-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  run({.port = std::stoi(words["port"]),
       .pid = std::stoi(words["pid"]),
       .clients = std::stoi(words["clients"]),
       .status = std::stoi(words["status"]),
       .seconds = std::stod(words["seconds"]),
       .rate = std::stod(words["rate"]),
       .count = std::stol(words["count"]),
       .request = request,
       .cert = words["cert"],
       .key = words["key"]});
}
