// SPDX-License-Identifier: Apache-2.0
// RedisServer: a real redis-server for one test, on free ports of 127.0.0.1 and [::1], in a
// directory of its own. It ends with the test. RedisClient: a small blocking client to read and to
// prepare the data of the server. The program is the redis-server in PATH, or TEST_REDIS_SERVER:
// another version (scripts/servers.sh). The name does not begin with CRONLATCH_, because the
// program refuses unknown variables with that prefix.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct redisContext;

namespace cronlatch::testing {

class Certificates;

class RedisServer {
 public:
  // Starts and waits until it answers; aborts the test program with the server's log when it does
  // not within 10 s. Nothing is saved to disk unless `extra_args` enable it.
  static std::unique_ptr<RedisServer> start(std::vector<std::string> extra_args = {});
  // The same with a TLS port beside the plain one: the valid certificate, no client certificate
  // required. Later arguments win, so that `extra_args` can set another --tls-cert-file or
  // --tls-auth-clients yes. With a program without TLS the server has only the plain port, and
  // tls_port() is 0: a test begins with NEEDS_TLS_SERVER().
  static std::unique_ptr<RedisServer> start_tls(const Certificates& certificates,
                                                std::vector<std::string> extra_args = {});
  // The same as start(), with a wall clock that the test can step.
  static std::unique_ptr<RedisServer> start_with_clock();
  // A Sentinel that monitors nothing yet.
  static std::unique_ptr<RedisServer> start_sentinel(std::vector<std::string> extra_args = {});
  // A node of a Cluster, alone and without slots; its bus has the port 10,000 higher.
  static std::unique_ptr<RedisServer> start_node(std::vector<std::string> extra_args = {});
  // False for a TEST_REDIS_SERVER that was built without TLS.
  static bool has_tls();
  static std::string program();
  // The arguments for this option, or none for a program without the option (Redis 6.2).
  static std::vector<std::string> if_supported(const std::string& option, const std::string& value);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  int port() const { return port_; }
  int tls_port() const { return tls_port_; }  // 0 without TLS
  pid_t pid() const { return pid_; }          // 0 when it does not run
  const std::string& dir() const { return dir_; }
  std::string log() const;

  void stop();                                 // TERM, reaped
  void kill_now();                             // KILL, reaped
  void pause();                                // STOP; returns when it has stopped
  void resume();                               // CONT
  void step_clock(std::int64_t microseconds);  // only after start_with_clock(); adds up
  void restart();  // after stop or kill_now: same ports, same directory, same arguments

 private:
  explicit RedisServer(std::vector<std::string> extra_args);
  bool launch();
  static bool is_built_with_tls();
  std::string step_file() const { return dir_ + "/step"; }
  void write_step() const;
  bool answers() const;
  void end(int signo);

  std::string dir_;
  std::vector<std::string> extra_args_;
  std::string config_file_;               // "": none
  std::vector<std::string> environment_;  // NAME=value, beside that of the test
  std::int64_t step_ = 0;
  int port_ = 0;
  int tls_port_ = 0;
  pid_t pid_ = 0;
};

#define NEEDS_TLS_SERVER()                           \
  if (!::cronlatch::testing::RedisServer::has_tls()) \
  GTEST_SKIP() << ::cronlatch::testing::RedisServer::program() << " was built without TLS"

struct RedisAnswer {
  enum class Type { none, status, error, text, integer, array, nil };
  Type type = Type::none;  // none: no connection
  std::string text{};      // of status, error, text; an integer as decimal
  std::int64_t integer = 0;
  std::vector<RedisAnswer> elements{};
  bool is_error() const { return type == Type::error || type == Type::none; }
};

// Blocking, plain TCP; reconnects when the connection is gone.
class RedisClient {
 public:
  explicit RedisClient(int port, std::string host = "127.0.0.1");
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;
  RedisAnswer operator()(const std::vector<std::string>& args);

 private:
  std::string host_;
  int port_;
  redisContext* context_ = nullptr;
};

// One command on a connection of its own.
RedisAnswer redis_command(int port, const std::vector<std::string>& args);
// The master at `port` has `replicas`, and each has acknowledged everything that it wrote. WAIT
// does not tell: it waits for the writes of its own connection.
bool is_replicated(int port, std::size_t replicas);

// A port of 127.0.0.1 without a listener.
int free_port();
// The same, and the port of a Cluster's bus, which is 10,000 higher, has none either.
int free_node_port();

}  // namespace cronlatch::testing
