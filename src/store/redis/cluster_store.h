// SPDX-License-Identifier: Apache-2.0
// ClusterStore: the backend of redis+cluster:// and rediss+cluster://. The requests for one lock go
// through a RedisStore with a ClusterRoute. list() reads every master, because a Cluster has no
// index: one more key would be in another hash slot. Contracts: core/store.h, core/lock_stats.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/redis/cluster_reply.h"
#include "store/redis/redis_store.h"

namespace cronlatch::redis {

// The pause after a scan of the keys of all masters is 100 times as long as the scan was, so that
// scans take at most a hundredth of the time, but at most kLongestScanPause. In a pause, list()
// reads the locks of the last scan, and does not contain new ones.
inline constexpr int kScanPauseFactor = 100;
inline constexpr Millis kLongestScanPause{600'000};

class ClusterStore : public Backend {
 public:
  // `config`: without host and port.
  ClusterStore(RedisConfig config, std::vector<StoreHost> nodes);
  ~ClusterStore() override;

  void send(const Request& request, TimePoint now) override { locks_.send(request, now); }
  void watch(PollSet& set) const override { locks_.watch(set); }
  std::optional<Reply> step(const PollSet& set, TimePoint now) override {
    return locks_.step(set, now);
  }
  void listen(const std::string& lock, const std::string& owner, TimePoint until) override {
    locks_.listen(lock, owner, until);
  }
  bool take_wake() override { return locks_.take_wake(); }

  // Fails when one master cannot be read, so that no figure is lowered by a part of the locks.
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t max_locks) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override {
    return locks_.show(lock, give_up);
  }
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override {
    return locks_.revoke(lock, give_up);
  }

 private:
  RedisStore& master_at(const StoreHost& host);
  Result<std::vector<HashSlotRange>> read_hash_slots(TimePoint give_up);
  Status scan(const std::vector<HashSlotRange>& ranges, TimePoint give_up);
  Status scan_master(RedisStore& master, TimePoint give_up);
  Status add_views(std::vector<LockView>& all, const StoreHost& host,
                   const std::vector<std::string>& names, TimePoint give_up);

  RedisConfig config_;
  RedisStore locks_;
  std::map<std::string, std::unique_ptr<RedisStore>> masters_;  // by host:port
  std::set<std::string> names_;  // of the last scan, and of earlier ones while they have keys
  std::optional<TimePoint> next_scan_;
};

}  // namespace cronlatch::redis
