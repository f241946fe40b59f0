// SPDX-License-Identifier: Apache-2.0
// FaultProxy: a proxy between a client and a real Redis, on a free port of 127.0.0.1, that applies
// faults to selected requests or replies. It parses the frames of the protocol; of the product it
// uses only the hashes of the scripts. It has one thread for all connections.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cronlatch::testing {

// The purpose of a request of the product.
enum class RedisVerb { hello, time, acquire, renew, release, index, other };
RedisVerb verb_of(const std::vector<std::string>& request);

enum class FaultKind {
  reply_lost,        // it and all later replies are dropped; the connection stays open
  reply_closed,      // the connection is closed instead
  reply_cut,         // its first half arrives, then the connection is closed
  reply_duplicated,  // it arrives twice
  reply_late,        // it arrives after `delay`, and later replies follow it
  request_lost,      // it is not sent to the server; the connection stays open
  request_late,      // it is sent to the server after `delay`, also when the client has closed
};
const char* name_of(FaultKind kind);

struct Fault {
  using Request = std::vector<std::string>;
  FaultKind kind = FaultKind::reply_lost;
  std::function<bool(const Request&)> concerns;  // which requests are counted
  std::set<int> numbers{1};                      // which of these get the fault; the first is 1
  std::chrono::milliseconds delay{0};
  // The connection is closed after each reply to such a request, as a server with a short idle
  // timeout does; none: never.
  std::function<bool(const Request&)> closes_after{};
};

class FaultProxy {
 public:
  FaultProxy(int server_port, Fault fault);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  int port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int seen() const;  // the number of requests that were counted
  int struck() const;
  int connections() const;  // still open, or with a late request that has not been executed yet

 private:
  struct Connection;
  struct Stream;
  void serve();
  void accept_client();
  void pass_requests(Connection& connection);
  void pass_replies(Connection& connection);
  bool strikes();

  int server_port_;
  Fault fault_;
  int listener_;
  int port_ = 0;
  int stop_[2];
  mutable std::mutex mutex_;
  int seen_ = 0;
  int struck_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::thread thread_;
};

}  // namespace cronlatch::testing
