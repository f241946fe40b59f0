// SPDX-License-Identifier: Apache-2.0
// A lock of the ledger as text: the table of `ls`, the page of `show`, and the JSON object of both.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/table.h"
#include "core/ledger.h"

namespace cronlatch {

std::string_view name_of(LockState state);

// RFC 3339 in UTC; "" for no time.
std::string show_time(ServerTime t);

// The header and one row per lock; counters are summed over jobs.
std::string locks_table(const std::vector<LockView>& views);

// state, holder, job, since, expires, ...: what is known of the last grant. Also part of `explain`.
std::vector<Row> grant_rows(const LockView& view);

// Every field, then the counters of each job.
std::string lock_page(const LockView& view);

// Stable keys: lock, state, holder, job, fence (a string), attempt, since, expires, ttl_ms, pid,
// counters (summed), jobs. Times are RFC 3339 or null.
std::string lock_json(const LockView& view);

}  // namespace cronlatch
