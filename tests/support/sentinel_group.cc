// SPDX-License-Identifier: Apache-2.0
#include "support/sentinel_group.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace cronlatch::testing {
namespace {

constexpr auto kLimit = std::chrono::seconds(60);

void wait_for(const char* what, const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kLimit;
  while (std::chrono::steady_clock::now() < give_up) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::fprintf(stderr, "the Sentinels: not %s within a minute\n", what);
  std::abort();
}

void set(const RedisServer& sentinel, const char* option, const char* value) {
  redis_command(sentinel.port(), {"SENTINEL", "SET", SentinelGroup::kMaster, option, value});
}

bool is_master(const RedisServer& server) {
  const RedisAnswer role = redis_command(server.port(), {"ROLE"});
  return !role.elements.empty() && role.elements.front().text == "master";
}

}  // namespace

SentinelGroup::SentinelGroup() {
  servers_.push_back(RedisServer::start());
  const std::string port = std::to_string(servers_.front()->port());
  for (int i = 0; i < 2; ++i)
    servers_.push_back(
        RedisServer::start({"--replicaof", "127.0.0.1", port, "--repl-diskless-sync-delay", "0"}));
  for (int i = 0; i < 3; ++i) {
    sentinels_.push_back(RedisServer::start_sentinel());
    const RedisServer& sentinel = *sentinels_.back();
    redis_command(sentinel.port(), {"SENTINEL", "MONITOR", kMaster, "127.0.0.1", port, "2"});
    set(sentinel, "down-after-milliseconds", "2000");
    set(sentinel, "failover-timeout", "4000");
  }
  wait_until_stable();
}

SentinelGroup& SentinelGroup::shared() {
  static SentinelGroup group;
  return group;
}

std::string SentinelGroup::url(const std::string& first, const std::string& master) const {
  std::string hosts = first;
  for (const auto& sentinel : sentinels_)
    hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(sentinel->port());
  return "redis+sentinel://" + hosts + "/" + master;
}

RedisServer& SentinelGroup::master() {
  const int port = named_port();
  for (const auto& server : servers_)
    if (server->port() == port) return *server;
  std::abort();
}

RedisServer& SentinelGroup::replica() {
  const RedisServer& first = master();
  for (const auto& server : servers_)
    if (server.get() != &first) return *server;
  std::abort();
}

void SentinelGroup::wait_until_down(const RedisServer& replica) {
  const std::string name = "127.0.0.1:" + std::to_string(replica.port());
  const auto is_down_for = [&](const RedisServer& sentinel) {
    for (const RedisAnswer& entry :
         redis_command(sentinel.port(), {"SENTINEL", "REPLICAS", kMaster}).elements)
      for (std::size_t i = 0; i + 1 < entry.elements.size(); i += 2)
        if (entry.elements[1].text == name && entry.elements[i].text == "flags" &&
            entry.elements[i + 1].text.find("s_down") != std::string::npos)
          return true;
    return false;
  };
  wait_for("without a replica", [&] {
    return std::all_of(sentinels_.begin(), sentinels_.end(),
                       [&](const auto& sentinel) { return is_down_for(*sentinel); });
  });
}

int SentinelGroup::named_port(std::size_t sentinel) const {
  const RedisAnswer named =
      redis_command(sentinels_[sentinel]->port(), {"SENTINEL", "get-master-addr-by-name", kMaster});
  return named.elements.size() == 2 ? std::atoi(named.elements[1].text.c_str()) : 0;
}

bool SentinelGroup::is_stable(std::size_t replicas) {
  const int port = named_port();
  for (std::size_t i = 0; i < sentinels_.size(); ++i) {
    if (sentinels_[i]->pid() == 0) continue;
    if (named_port(i) != port || port == 0) return false;
    const RedisAnswer found =
        redis_command(sentinels_[i]->port(), {"SENTINEL", "REPLICAS", kMaster});
    const RedisAnswer others =
        redis_command(sentinels_[i]->port(), {"SENTINEL", "SENTINELS", kMaster});
    if (found.elements.size() < replicas || others.elements.size() + 1 < sentinels_.size())
      return false;
  }
  const RedisAnswer role = redis_command(port, {"ROLE"});
  return role.elements.size() == 3 && role.elements[0].text == "master" &&
         role.elements[2].elements.size() >= replicas;
}

void SentinelGroup::wait_until_stable(std::size_t replicas) {
  wait_for("stable", [&] { return is_stable(replicas); });
}

void SentinelGroup::fail_over() {
  RedisServer& before = master();
  // A failover that a Sentinel refuses (-NOGOODSLAVE, -INPROG) can be accepted a moment later.
  wait_for("ready for a failover", [&] {
    return !redis_command(sentinels_.front()->port(), {"SENTINEL", "FAILOVER", kMaster}).is_error();
  });
  wait_for("switched", [&] { return named_port() != before.port() && !is_master(before); });
  wait_until_stable();
}

}  // namespace cronlatch::testing
