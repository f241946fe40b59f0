// SPDX-License-Identifier: Apache-2.0
// Starts, pauses and ends redis-server processes by their pid; the blocking client is hiredis' own.
#include "support/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

constexpr int kPortTries = 5;
constexpr auto kStartDeadline = std::chrono::seconds(30);
constexpr auto kPollGap = std::chrono::milliseconds(2);

std::string make_dir() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "cronlatch-redis-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  return pattern;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

pid_t spawn(std::vector<std::string> args, std::vector<std::string> environment) {
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  const std::vector<char*> argv = pointers(args);
  const std::vector<char*> env = pointers(environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  // The parent may have died between fork and prctl; then nothing would end this server.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  dup2(null, 2);
  // A connection of the test that the server inherited would never show its end.
  close_range(3, ~0U, 0);
  execvpe(argv[0], argv.data(), env.data());
  _exit(127);
}

RedisAnswer convert(const redisReply& reply) {
  using Type = RedisAnswer::Type;
  RedisAnswer answer;
  const auto text = [&] { return std::string(reply.str, reply.len); };
  switch (reply.type) {
    case REDIS_REPLY_STATUS:
      return {Type::status, text()};
    case REDIS_REPLY_ERROR:
      return {Type::error, text()};
    case REDIS_REPLY_STRING:
      return {Type::text, text()};
    case REDIS_REPLY_INTEGER:
      return {Type::integer, std::to_string(reply.integer), reply.integer};
    case REDIS_REPLY_NIL:
      return {Type::nil};
    case REDIS_REPLY_ARRAY:
      answer.type = Type::array;
      for (size_t i = 0; i < reply.elements; ++i)
        answer.elements.push_back(convert(*reply.element[i]));
      return answer;
    default:
      return answer;
  }
}

}  // namespace

// The default program must have TLS: a package without it must not skip tests.
bool RedisServer::has_tls() {
  static const bool has = std::getenv("TEST_REDIS_SERVER") == nullptr || is_built_with_tls();
  return has;
}

// Valkey without TLS has the options of TLS, too. Only a program with TLS requires a certificate.
bool RedisServer::is_built_with_tls() {
  RedisServer server({});
  server.port_ = free_port();
  server.tls_port_ = free_port();
  const bool runs = server.launch();
  return !runs && server.log().find("No tls-cert-file configured") != std::string::npos;
}

std::string RedisServer::program() {
  const char* const given = std::getenv("TEST_REDIS_SERVER");
  return given != nullptr ? given : "redis-server";
}

std::vector<std::string> RedisServer::if_supported(const std::string& option,
                                                   const std::string& value) {
  static const auto server = start();
  if (redis_command(server->port(), {"CONFIG", "GET", option}).elements.empty()) return {};
  return {"--" + option, value};
}

namespace {

// The port that is bound, 0 when `port` is in use. `port` 0: any free one.
int bound_port(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0) std::abort();
  const bool is_bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  return is_bound ? ntohs(address.sin_port) : 0;
}

}  // namespace

int free_port() {
  const int port = bound_port(0);
  if (port == 0) std::abort();
  return port;
}

int free_node_port() {
  constexpr int kBus = 10'000;
  for (;;) {
    const int port = free_port();
    if (port + kBus <= 65'535 && bound_port(port + kBus) != 0) return port;
  }
}

RedisServer::RedisServer(std::vector<std::string> extra_args)
    : dir_(make_dir()), extra_args_(std::move(extra_args)) {}

std::unique_ptr<RedisServer> RedisServer::start(std::vector<std::string> extra_args) {
  std::unique_ptr<RedisServer> server(new RedisServer(std::move(extra_args)));
  for (int i = 0; i < kPortTries; ++i) {
    server->port_ = free_port();
    if (server->launch()) return server;
  }
  std::fprintf(stderr, "redis-server does not start:\n%s\n", server->log().c_str());
  std::abort();
}

std::unique_ptr<RedisServer> RedisServer::start_tls(const Certificates& certificates,
                                                    std::vector<std::string> extra_args) {
  if (!has_tls()) return start();
  std::vector<std::string> args = {
      "--tls-cert-file",    certificates.good().cert, "--tls-key-file",     certificates.good().key,
      "--tls-ca-cert-file", certificates.ca(),        "--tls-auth-clients", "no"};
  args.insert(args.end(), extra_args.begin(), extra_args.end());
  std::unique_ptr<RedisServer> server(new RedisServer(std::move(args)));
  for (int i = 0; i < kPortTries; ++i) {
    server->port_ = free_port();
    server->tls_port_ = free_port();
    if (server->launch()) return server;
  }
  std::fprintf(stderr, "redis-server does not start with TLS:\n%s\n", server->log().c_str());
  std::abort();
}

std::unique_ptr<RedisServer> RedisServer::start_with_clock() {
  std::unique_ptr<RedisServer> server(new RedisServer({}));
  server->write_step();
  server->environment_ = {"LD_PRELOAD=" CRONLATCH_STEPPED_CLOCK,
                          "CLOCK_STEP_FILE=" + server->step_file()};
  for (int i = 0; i < kPortTries; ++i) {
    server->port_ = free_port();
    if (server->launch()) return server;
  }
  std::fprintf(stderr, "redis-server does not start:\n%s\n", server->log().c_str());
  std::abort();
}

// A Sentinel writes its state into its configuration file.
std::unique_ptr<RedisServer> RedisServer::start_sentinel(std::vector<std::string> extra_args) {
  std::unique_ptr<RedisServer> server(new RedisServer({"--sentinel"}));
  server->extra_args_.insert(server->extra_args_.end(), extra_args.begin(), extra_args.end());
  server->config_file_ = server->dir_ + "/sentinel.conf";
  std::ofstream(server->config_file_).close();
  for (int i = 0; i < kPortTries; ++i) {
    server->port_ = free_port();
    if (server->launch()) return server;
  }
  std::fprintf(stderr, "the Sentinel does not start:\n%s\n", server->log().c_str());
  std::abort();
}

std::unique_ptr<RedisServer> RedisServer::start_node(std::vector<std::string> extra_args) {
  std::unique_ptr<RedisServer> server(
      new RedisServer({"--cluster-enabled", "yes", "--cluster-node-timeout", "2000"}));
  server->extra_args_.insert(server->extra_args_.end(), extra_args.begin(), extra_args.end());
  for (int i = 0; i < kPortTries; ++i) {
    server->port_ = free_node_port();
    if (server->launch()) return server;
  }
  std::fprintf(stderr, "the node does not start:\n%s\n", server->log().c_str());
  std::abort();
}

// In place: the server has mapped the file.
void RedisServer::write_step() const {
  std::ofstream file(step_file(), std::ios::in | std::ios::out | std::ios::binary);
  if (!file) file.open(step_file(), std::ios::out | std::ios::binary);
  file.write(reinterpret_cast<const char*>(&step_), sizeof step_);
}

void RedisServer::step_clock(std::int64_t microseconds) {
  step_ += microseconds;
  write_step();
}

RedisServer::~RedisServer() {
  end(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

bool RedisServer::launch() {
  std::vector<std::string> args = {program()};
  if (!config_file_.empty()) args.push_back(config_file_);
  for (const std::string& arg : std::vector<std::string>{
           "--port", std::to_string(port_), "--bind", "127.0.0.1", "-::1", "--dir", dir_,
           "--logfile", "log", "--daemonize", "no", "--save", "", "--appendonly", "no"})
    args.push_back(arg);
  if (tls_port_ != 0) {
    args.push_back("--tls-port");
    args.push_back(std::to_string(tls_port_));
  }
  args.insert(args.end(), extra_args_.begin(), extra_args_.end());
  pid_ = spawn(std::move(args), environment_);
  const auto give_up = std::chrono::steady_clock::now() + kStartDeadline;
  while (std::chrono::steady_clock::now() < give_up) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;  // most likely another process took the port
      return false;
    }
    if (answers()) return true;
    std::this_thread::sleep_for(kPollGap);
  }
  end(SIGKILL);
  return false;
}

// Any answer is enough: a server that requires a password, or is still loading, is ready for its
// test.
bool RedisServer::answers() const {
  return redis_command(port_, {"PING"}).type != RedisAnswer::Type::none;
}

void RedisServer::end(int signo) {
  if (pid_ == 0) return;
  kill(pid_, signo);
  kill(pid_, SIGCONT);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void RedisServer::stop() { end(SIGTERM); }
void RedisServer::kill_now() { end(SIGKILL); }

void RedisServer::pause() {
  kill(pid_, SIGSTOP);
  waitpid(pid_, nullptr, WUNTRACED);
}

void RedisServer::resume() { kill(pid_, SIGCONT); }

void RedisServer::restart() {
  end(SIGKILL);
  if (launch()) return;
  std::fprintf(stderr, "redis-server does not start again:\n%s\n", log().c_str());
  std::abort();
}

std::string RedisServer::log() const {
  std::ifstream file(dir_ + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

RedisClient::RedisClient(int port, std::string host) : host_(std::move(host)), port_(port) {}

RedisClient::~RedisClient() {
  if (context_ != nullptr) redisFree(context_);
}

RedisAnswer RedisClient::operator()(const std::vector<std::string>& args) {
  if (context_ != nullptr && context_->err != 0) {
    redisFree(context_);
    context_ = nullptr;
  }
  const timeval limit{10, 0};
  if (context_ == nullptr) context_ = redisConnectWithTimeout(host_.c_str(), port_, limit);
  if (context_ == nullptr || context_->err != 0) return {};
  redisSetTimeout(context_, limit);
  std::vector<const char*> argv;
  std::vector<size_t> lengths;
  for (const std::string& arg : args) {
    argv.push_back(arg.data());
    lengths.push_back(arg.size());
  }
  auto* reply = static_cast<redisReply*>(
      redisCommandArgv(context_, static_cast<int>(argv.size()), argv.data(), lengths.data()));
  if (reply == nullptr) return {};
  RedisAnswer answer = convert(*reply);
  freeReplyObject(reply);
  return answer;
}

RedisAnswer redis_command(int port, const std::vector<std::string>& args) {
  return RedisClient(port)(args);
}

bool is_replicated(int port, std::size_t replicas) {
  const RedisAnswer role = redis_command(port, {"ROLE"});
  if (role.elements.size() != 3 || role.elements[2].elements.size() != replicas) return false;
  for (const RedisAnswer& replica : role.elements[2].elements)
    if (std::atoll(replica.elements[2].text.c_str()) < role.elements[1].integer) return false;
  return true;
}

}  // namespace cronlatch::testing
