// SPDX-License-Identifier: Apache-2.0
// QuorumGroup: independent Redis servers, whose URLs are a store with a quorum.
#pragma once

#include <memory>
#include <string>
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
  std::vector<std::unique_ptr<RedisServer>> servers_;
};

}  // namespace cronlatch::testing
