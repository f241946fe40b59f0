// SPDX-License-Identifier: Apache-2.0
// ClusterGroup: a real Redis Cluster of three masters with one replica each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.h"

namespace cronlatch::testing {

class ClusterGroup {
 public:
  // Returns when every node accepts commands.
  ClusterGroup();
  // One Cluster for all tests of a program: its start takes longer than a test.
  static ClusterGroup& shared();

  std::string url() const;  // redis+cluster:// with the first two nodes
  RedisServer& node(std::size_t i) { return *nodes_[i]; }
  std::size_t size() const { return nodes_.size(); }
  RedisServer& owner(int hash_slot);  // the master of the hash slot
  RedisServer& other_master(int hash_slot);
  std::string id(const RedisServer& node) const;
  // Begins the move of a hash slot: new keys are created by `to`.
  void begin_move(int hash_slot, RedisServer& from, RedisServer& to);
  // Moves the keys of the hash slot, and ends the move.
  void end_move(int hash_slot, RedisServer& from, RedisServer& to);
  // The scripts that a node did not execute: it answered ASK, TRYAGAIN or MOVED.
  static long redirected_scripts(const RedisServer& node);
  void wait_until_ok();

 private:
  std::vector<std::unique_ptr<RedisServer>> nodes_;  // the masters first
};

}  // namespace cronlatch::testing
