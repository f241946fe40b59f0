// SPDX-License-Identifier: Apache-2.0
// Sends HTTPS requests as the API server does: keep-alive connections, one request at a time on
// each. Without `rate` it sends as fast as possible. With `rate` each request has a scheduled time,
// and its latency is measured from that time, so that a slow response also counts for the requests
// that waited for it.
//   admission_load port=N pid=N body=FILE path=/admit/job [clients=4] [seconds=3 | count=N]
//   [rate=N] [status=200] [cert=FILE key=FILE]
// NUMBER in the body is replaced by the number of the request (six digits), so that it can also
// create objects in an API server.
// Prints: requests, requests with another status than `status`, the server's CPU time in
// microseconds per request, p50 and p99 in microseconds.
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
  long count;  // 0: until `seconds` have passed
  std::string request;
  std::string cert, key;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "admission_load: %s\n", what);
  std::exit(1);
}

// CPU time of the server on all processors (clock_getcpuclockid(3)). Its resolution is higher than
// that of /proc/PID/stat.
double cpu_micros(int pid) {
  double sum = 0;
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) != 0) fail("pid=N is not a running process");
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
      fail("cannot load the client certificate");
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd_);
    if (SSL_connect(ssl_) != 1) fail("the TLS handshake failed");
  }
  ~Connection() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int send(const std::string& request) {  // returns the HTTP status
    if (SSL_write(ssl_, request.data(), static_cast<int>(request.size())) <= 0)
      fail("the server closed the connection");
    std::string answer;
    std::size_t whole = 0;
    while (whole == 0 || answer.size() < whole) {
      char buffer[16384];
      const int got = SSL_read(ssl_, buffer, sizeof(buffer));
      if (got <= 0) fail("the server closed the connection");
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

struct Results {
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

Results load(const Plan& plan, Connection& connection, Time::time_point start,
             std::atomic<long>& next) {
  Results results;
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
    if (plan.count > 0 ? mine >= plan.count : moment >= end) return results;
    if (connection.send(numbered(plan.request, mine)) != plan.status) ++results.wrong;
    results.latencies.push_back(std::chrono::duration_cast<Micros>(Time::now() - moment));
  }
}

long quantile(const std::vector<Micros>& sorted, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[index].count();
}

void run(const Plan& plan) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < plan.clients; ++i) {
    connections.push_back(std::make_unique<Connection>(plan));
    // Warm-up: the measurement does not include the handshake.
    if (plan.status == 200) connections.back()->send(numbered(plan.request, 0));
  }
  std::atomic<long> next{0};
  std::vector<Results> results(connections.size());
  const double cpu = cpu_micros(plan.pid);
  const auto start = Time::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = load(plan, *connections[i], start, next); });
  }
  for (auto& thread : threads) thread.join();
  const double spent = cpu_micros(plan.pid) - cpu;
  std::vector<Micros> all;
  long wrong = 0;
  for (const Results& of_connection : results) {
    all.insert(all.end(), of_connection.latencies.begin(), of_connection.latencies.end());
    wrong += of_connection.wrong;
  }
  if (all.empty()) fail("no request was sent");
  std::sort(all.begin(), all.end());
  std::printf("%zu %ld %.1f %ld %ld\n", all.size(), wrong, spent / static_cast<double>(all.size()),
              quantile(all, 0.5), quantile(all, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options = {
      {"clients", "4"}, {"seconds", "3"}, {"count", "0"}, {"rate", "0"}, {"status", "200"}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    options[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  std::ifstream file(options["body"], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (body.empty()) fail("body=FILE is missing or empty");
  const std::string request = "POST " + options["path"] +
                              " HTTP/1.1\r\nHost: cronlatch-webhook.cronlatch.svc\r\n"
                              "Content-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  run({.port = std::stoi(options["port"]),
       .pid = std::stoi(options["pid"]),
       .clients = std::stoi(options["clients"]),
       .status = std::stoi(options["status"]),
       .seconds = std::stod(options["seconds"]),
       .rate = std::stod(options["rate"]),
       .count = std::stol(options["count"]),
       .request = request,
       .cert = options["cert"],
       .key = options["key"]});
}
