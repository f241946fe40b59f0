// SPDX-License-Identifier: Apache-2.0
// A LockView as text: the table of `ls` and the page of `show`; its JSON is core/lock_json.h. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/lock_json.h"
#include "terminal/table.h"

namespace cronlatch {

// The header and one row per lock; counters are summed over jobs.
std::string locks_table(const std::vector<LockView>& views);

// "no quarantine", or how long the store grants no lock (option strict).
std::string quarantine_text(Micros remaining);

// state, holder, job, since, expires, ...: the last grant. Also part of `explain`.
std::vector<Row> grant_rows(const LockView& view);

// Every field, the open grants of a lock with several slots, then the counters of each job.
std::string lock_page(const LockView& view);

}  // namespace cronlatch
