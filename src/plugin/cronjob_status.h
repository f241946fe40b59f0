// SPDX-License-Identifier: Apache-2.0
// CronJobStatus: one CronJob and its lock, for the row of `ls`, for `describe` and for JSON. Tables
// contain ages, JSON contains times. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/cluster.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

// Points into its cluster, which must outlive it.
struct CronJobStatus {
  const CronJob* cronjob = nullptr;
  std::string lock, state, holder;
  std::optional<WallTime> since, expires, last_success, last_skip, next;
  std::string skip_reason, next_note;
  const LockStatus* live = nullptr;
  const JobCounters* counters = nullptr;
  std::vector<Advice> advice;
};

// `advice`: of the whole cluster; the status contains that of this CronJob.
// REQUIRES: `cronjob` is one of the cluster's.
CronJobStatus status_of_cronjob(const Cluster& cluster, const CronJob& cronjob,
                                const std::vector<Advice>& advice);

kube::Json json_of(const CronJobStatus& status);

// Last sections: the lock state is old, or derived from pods; other operators have one, too. None
// if it is current, and that of the only operator.
void add_caution(const Cluster& cluster, Output& output);
// The same as `caution` and `note` of the JSON; `stateRead`, the time of the state; `unreadable`,
// the lists without which the rest was derived.
void add_caution(const Cluster& cluster, kube::Json& json);

// A last section, and `unavailableServers` in the JSON: the servers of a quorum that the operator
// could not read. Locks work while a majority is available.
void add_unavailable_servers(const Cluster& cluster, Output& output);

// ---- text for tables ----

// "5m"; "" without a time.
std::string age_or_empty(const std::optional<WallTime>& t, WallTime now);
// Joined by a space, if both have text.
std::string joined(const std::string& a, const std::string& b);

}  // namespace cronlatch::plugin
