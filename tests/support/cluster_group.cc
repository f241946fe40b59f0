// SPDX-License-Identifier: Apache-2.0
#include "support/cluster_group.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace cronlatch::testing {
namespace {

constexpr std::size_t kMasters = 3;
constexpr int kHashSlots = 16'384;

void wait_for(const char* what, const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < give_up) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::fprintf(stderr, "the Cluster: not %s within a minute\n", what);
  std::abort();
}

void must(const RedisServer& node, const std::vector<std::string>& command) {
  const RedisAnswer answer = redis_command(node.port(), command);
  if (!answer.is_error()) return;
  std::fprintf(stderr, "%s %s: %s\n", command[0].c_str(), command[1].c_str(), answer.text.c_str());
  std::abort();
}

}  // namespace

ClusterGroup::ClusterGroup() {
  for (std::size_t i = 0; i < 2 * kMasters; ++i) nodes_.push_back(RedisServer::start_node());
  for (std::size_t i = 0; i < kMasters; ++i) {
    std::vector<std::string> command = {"CLUSTER", "ADDSLOTS"};
    for (int hash_slot = 0; hash_slot < kHashSlots; ++hash_slot)
      if (static_cast<std::size_t>(hash_slot) * kMasters / kHashSlots == i)
        command.push_back(std::to_string(hash_slot));
    must(*nodes_[i], command);
    // Different epochs, so that no election is needed to order the nodes.
    must(*nodes_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  for (std::size_t i = 1; i < nodes_.size(); ++i)
    must(*nodes_[0], {"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[i]->port())});
  for (std::size_t i = kMasters; i < nodes_.size(); ++i)
    wait_for("joined", [&] {
      return !redis_command(nodes_[i]->port(), {"CLUSTER", "REPLICATE", id(*nodes_[i - kMasters])})
                  .is_error();
    });
  wait_until_ok();
}

ClusterGroup& ClusterGroup::shared() {
  static ClusterGroup group;
  return group;
}

std::string ClusterGroup::url() const {
  return "redis+cluster://127.0.0.1:" + std::to_string(nodes_[0]->port()) +
         ",127.0.0.1:" + std::to_string(nodes_[1]->port());
}

std::string ClusterGroup::id(const RedisServer& node) const {
  return redis_command(node.port(), {"CLUSTER", "MYID"}).text;
}

RedisServer& ClusterGroup::owner(int hash_slot) {
  for (const auto& asked : nodes_) {
    if (asked->pid() == 0) continue;
    for (const RedisAnswer& range : redis_command(asked->port(), {"CLUSTER", "SLOTS"}).elements)
      if (range.elements[0].integer <= hash_slot && hash_slot <= range.elements[1].integer)
        for (const auto& node : nodes_)
          if (node->port() == range.elements[2].elements[1].integer) return *node;
  }
  std::abort();
}

RedisServer& ClusterGroup::other_master(int hash_slot) {
  RedisServer& from = owner(hash_slot);
  for (int other = 0; other < kHashSlots; ++other)
    if (RedisServer& to = owner(other); &to != &from) return to;
  std::abort();
}

void ClusterGroup::begin_move(int hash_slot, RedisServer& from, RedisServer& to) {
  const std::string number = std::to_string(hash_slot);
  must(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)});
  must(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", id(to)});
}

void ClusterGroup::end_move(int hash_slot, RedisServer& from, RedisServer& to) {
  const std::string number = std::to_string(hash_slot);
  for (;;) {
    const auto keys =
        redis_command(from.port(), {"CLUSTER", "GETKEYSINSLOT", number, "100"}).elements;
    if (keys.empty()) break;
    std::vector<std::string> command = {"MIGRATE", "127.0.0.1", std::to_string(to.port()), "", "0",
                                        "5000",    "KEYS"};
    for (const RedisAnswer& key : keys) command.push_back(key.text);
    must(from, command);
  }
  for (RedisServer* node : {&to, &from})
    must(*node, {"CLUSTER", "SETSLOT", number, "NODE", id(to)});
}

// INFO errorstats would name the errors; Redis 6.2 does not count a redirection there.
long ClusterGroup::redirected_scripts(const RedisServer& node) {
  const std::string info = redis_command(node.port(), {"INFO", "commandstats"}).text;
  const std::string name = "rejected_calls=";
  long sum = 0;
  for (std::size_t at = 0; (at = info.find("cmdstat_eval", at)) != std::string::npos; ++at) {
    const std::size_t value = info.find(name, at);
    if (value != std::string::npos) sum += std::atol(info.c_str() + value + name.size());
  }
  return sum;
}

void ClusterGroup::wait_until_ok() {
  wait_for("ok", [&] {
    for (const auto& node : nodes_) {
      if (node->pid() == 0) continue;
      const std::string state = redis_command(node->port(), {"CLUSTER", "INFO"}).text;
      if (state.find("cluster_state:ok") == std::string::npos ||
          state.find("cluster_known_nodes:" + std::to_string(nodes_.size())) == std::string::npos)
        return false;
    }
    // Each master has a replica that is connected.
    std::size_t replicas = 0;
    for (const auto& node : nodes_) {
      const RedisAnswer role = redis_command(node->port(), {"ROLE"});
      if (!role.elements.empty() && role.elements[0].text == "master")
        replicas += role.elements[2].elements.size();
    }
    return replicas == nodes_.size() - kMasters;
  });
}

}  // namespace cronlatch::testing
