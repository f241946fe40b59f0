// SPDX-License-Identifier: Apache-2.0
// A lock of the ledger as JSON: what `ls`, `show` and the operator's status page print. One
// function, so that a reader of one can read all. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/lock_stats.h"

namespace cronlatch {

// Stable keys: lock, state, holder, job, fence (a string), attempt, since, expires, ttl_ms, pid,
// counters (summed), jobs (each with its counters and the buckets of its histograms). Times are RFC
// 3339 or null. The owner token is not among what a ledger knows.
std::string lock_json(const LockView& view);

// ---- its words, for whoever shows a lock in another shape ----
std::string_view name_of(LockState state);
std::string show_time(ServerTime t);     // RFC 3339 in UTC; "" for no time
bool is_time(std::string_view counter);  // kept among the counters, but a moment and no count
std::int64_t sum_of(const LockView& view, std::string_view counter);  // over the jobs
bool granted(const LockView& view);  // who held a free lock last is history, not state
std::string when_granted(const LockView& view, const std::string& text);  // or ""
std::string expiry_of(const LockView& view);                              // or ""
std::string fence_of(const LockView& view);                               // or ""

}  // namespace cronlatch
