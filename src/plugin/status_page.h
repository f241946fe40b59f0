// SPDX-License-Identifier: Apache-2.0
// Reads the operator's status page (GET /status): the state of every lock in the store. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plugin/objects.h"

namespace cronlatch::plugin {

struct JobCounters {
  std::map<std::string, std::int64_t, std::less<>> values;  // acquired, skipped_held, ...
  std::optional<WallTime> last_success, last_skip;
  std::int64_t get(std::string_view name) const;
};

struct LockStatus {
  std::string name, state, holder, job, fence;
  std::optional<WallTime> since, expires;
  Millis ttl{};
  std::map<std::string, JobCounters, std::less<>> jobs;
  std::vector<std::string> holders;  // of a lock with several slots, by fence; else empty

  bool is_held_by(std::string_view pod) const;
  // "shop/a", or "shop/a and 2 others"; "" without a holder.
  std::string holder_text() const;
};

// One server of a quorum.
struct QuorumServer {
  std::string endpoint, error;  // the error of the last read; "" without one
  bool up = false;
};

struct StatusPage {
  std::optional<WallTime> read;  // when the operator read the store
  bool store_up = false;
  std::string endpoint, error;
  std::vector<QuorumServer> servers;  // of a quorum; else empty
  // Names of clusters with the same store and key prefix.
  std::vector<std::string> other_clusters;
  std::map<std::string, LockStatus, std::less<>> locks;

  const LockStatus* find(std::string_view lock) const;
  // The counters of one CronJob ("namespace/name") on one lock; nullptr before its first run.
  const JobCounters* counters(std::string_view lock, std::string_view job) const;
};

// Code::config if the text is not a status page of version 1.
Result<StatusPage> read_status_page(std::string_view text);

}  // namespace cronlatch::plugin
