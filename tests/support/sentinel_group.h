// SPDX-License-Identifier: Apache-2.0
// SentinelGroup: three real Sentinels that monitor a real master with two replicas.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.h"

namespace cronlatch::testing {

class SentinelGroup {
 public:
  static constexpr const char* kMaster = "mymaster";

  // Returns when a failover can succeed.
  SentinelGroup();
  // One group for all tests of a program: its start takes longer than a test.
  static SentinelGroup& shared();

  // redis+sentinel://...; `first`: another address in front of those of the Sentinels.
  std::string url(const std::string& first = "", const std::string& master = kMaster) const;
  RedisServer& master();   // the one that is a master now
  RedisServer& replica();  // one of the others
  RedisServer& sentinel(std::size_t i) { return *sentinels_[i]; }
  std::size_t sentinels() const { return sentinels_.size(); }
  // By command; returns when the Sentinels name another master that accepts writes, and the former
  // one is its replica.
  void fail_over();
  // Until the Sentinels name a master that accepts writes and has `replicas`.
  void wait_until_stable(std::size_t replicas = 2);
  // Every Sentinel takes the replica for down, and promotes another one.
  void wait_until_down(const RedisServer& replica);
  // The port that a Sentinel names.
  int named_port(std::size_t sentinel = 0) const;

 private:
  bool is_stable(std::size_t replicas);

  std::vector<std::unique_ptr<RedisServer>> servers_, sentinels_;
};

}  // namespace cronlatch::testing
