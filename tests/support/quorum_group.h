// SPDX-License-Identifier: Apache-2.0
// QuorumGroup: independent Redis servers, whose URLs are a store with a quorum.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/redis_server.h"

namespace cronlatch::testing {

class QuorumGroup {
 public:
  // With `has_clock`, the tests can step the clock of each server.
  explicit QuorumGroup(std::size_t servers, bool has_clock = false) {
    for (std::size_t i = 0; i < servers; ++i)
      servers_.push_back(has_clock ? RedisServer::start_with_clock() : RedisServer::start());
  }
  // One group of three for all tests of a program.
  static QuorumGroup& shared() {
    static QuorumGroup group(3);
    return group;
  }

  // Starts the servers that are down. A server grants a lock without a record once it has been
  // running for max-ttl. False when a server does not reach that within 20 s more.
  bool run_for(int seconds) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(seconds + 20);
    for (const auto& server : servers_) {
      if (server->pid() == 0) server->restart();
      while (uptime(*server) < seconds) {
        if (std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
    return true;
  }

  RedisServer& operator[](std::size_t i) { return *servers_[i]; }
  std::size_t size() const { return servers_.size(); }
  std::string url() const {
    std::vector<int> ports;
    for (const auto& server : servers_) ports.push_back(server->port());
    return url_of(ports);
  }
  static std::string url_of(const std::vector<int>& ports) {
    std::string urls;
    for (const int port : ports)
      urls += (urls.empty() ? "" : ",") + ("redis://127.0.0.1:" + std::to_string(port));
    return urls;
  }

 private:
  static int uptime(const RedisServer& server) {
    const std::string info = redis_command(server.port(), {"INFO", "server"}).text;
    const std::string name = "uptime_in_seconds:";
    const std::size_t at = info.find(name);
    return at == std::string::npos ? 0 : std::atoi(info.c_str() + at + name.size());
  }

  std::vector<std::unique_ptr<RedisServer>> servers_;
};

}  // namespace cronlatch::testing
