// SPDX-License-Identifier: Apache-2.0
// A LockView as JSON: the output of `ls`, `show` and the operator's status page. One function, so
// that all have one format. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/lock_stats.h"

namespace cronlatch {

// Stable keys: lock, state, holder, job, fence (a string), attempt, since, expires, ttl_ms, slots,
// grants (the open grants of a lock with several slots), waiters, pid, counters (summed), jobs
// (each with its counters and the buckets of its histograms). Times are RFC 3339 or null. The owner
// token is not in it.
std::string lock_json(const LockView& view);

// ---- parts, for other formats ----
std::string_view name_of(LockState state);
std::string show_time(ServerTime t);     // RFC 3339 in UTC; "" for no time
bool is_time(std::string_view counter);  // stored among the counters, but a point in time
// `hold_ms`, `hold_<i>`, `wait_ms`, `wait_<i>`; not `wait_timeouts`.
bool is_of_histogram(std::string_view counter);
std::int64_t sum_of(const LockView& view, std::string_view counter);      // over the jobs
bool granted(const LockView& view);                                       // the state has a holder
std::string when_granted(const LockView& view, const std::string& text);  // or ""
std::string expiry_of(const LockView& view);                              // or ""
std::string fence_of(const LockView& view);                               // or ""
std::int64_t live_grants(const LockView& view);                           // with a live lease
std::string state_text(const LockView& view);  // with several slots: "held 2 of 3"

}  // namespace cronlatch
