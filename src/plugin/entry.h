// SPDX-License-Identifier: Apache-2.0
// Entry: what is known of one CronJob and its lock, put together once for the row of a table, the
// page of `describe` and JSON. Tables show ages, JSON shows times. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/cluster.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

// Points into the cluster that it was made from.
struct Entry {
  const CronJob* cronjob = nullptr;
  std::string lock, state, holder;
  std::optional<WallTime> since, expires, last_success, last_skip, next;
  std::string skip_reason, next_note;
  const LiveLock* live = nullptr;
  const JobCounters* counters = nullptr;
  std::vector<Advice> advice;
};

// `advice`: of the whole cluster; the entry takes what is about it.
// REQUIRES: `cronjob` is one of the cluster's.
Entry entry_of(const Cluster& cluster, const CronJob& cronjob, const std::vector<Advice>& advice);

kube::Json json_of(const Entry& entry);

// How live the picture is, as a last block and as JSON; nothing when all is well.
void add_caution(const Cluster& cluster, Page& page);
kube::Json caution_json(const Cluster& cluster);

// ---- words of tables ----

// "5m"; "" for never.
std::string ago(const std::optional<WallTime>& t, WallTime now);
// With a space between them where neither is empty.
std::string both(const std::string& a, const std::string& b);

}  // namespace cronlatch::plugin
