// SPDX-License-Identifier: Apache-2.0
// The parts that the rules of several verbs share; nobody but rules*.cc includes it.
#pragma once

#include "store/rules.h"

namespace cronlatch::rules {

// ---- time (rules.cc) ----
// A granted lock whose holder may still believe in it.
bool alive(const Record& record, ServerTime now, Tenure tenure);
// L7: after a backward step of the clock nothing waits longer than it was meant to.
ServerTime clamped_expiry(const Record& record, ServerTime now, Tenure tenure);
void clamp(Record& record, ServerTime now, Tenure tenure);
// L0: its holder is dead and did not release it, and its min-hold has not passed.
bool crashed_in_min_hold(const Record& record, ServerTime now, Tenure tenure);

// ---- remembered answers (rules_counters.cc) ----
using Dated = std::map<std::string, std::int64_t>;
// Drops what is dated at or before `limit`.
void purge(Dated& dated, std::int64_t limit);
bool answered(const Record& record, const Claim& claim, Answer answer, ServerTime now);
void remember(Record& record, const Claim& claim, Answer answer, ServerTime now, Micros ttl);
// The day on which the lock was last in use: on another day than before a store enters it in its
// index again, so that only names of locks that have expired grow old there.
void date_record(Record& record, ServerTime now);

// ---- counters (rules_counters.cc) ----
void count(Record& record, const std::string& job, std::string_view name, std::int64_t by = 1);
void stamp(Record& record, const std::string& job, std::string_view name, ServerTime now);
void count_wait(Record& record, const std::string& job, Millis waited);
void count_hold(Record& record, const std::string& job, Millis held);
// acquired - released - stolen - revoked: 1 when the job has an open grant.
std::int64_t open_grants(const Record& record, const std::string& job);

// ---- groups and run identities (rules_memory.cc) ----
bool group_was_granted(const Record& record, const std::string& group, ServerTime now);
// L5: a group that may be retried is remembered for 35 days, one that has succeeded for one day.
enum class GroupIs { open, finished };
void remember_group(Record& record, const std::string& group, GroupIs is, ServerTime now);
bool is_done(const Record& record, const Identity& identity, Micros once_ttl, ServerTime now);
void mark_done(Record& record, const Identity& identity, Micros once_ttl, ServerTime now);

// ---- shared decisions ----
// Makes the request's run the holder (rules_acquire.cc); counts nothing.
struct Grant {
  const Claim& claim;
  const Identity& identity;
  Fence fence;
  ServerTime acquired;
  Micros ttl;
  Micros min_hold;
};
void seat(Record& record, const Grant& grant, ServerTime now, Tenure tenure);
// Why a caller that is not the holder lost the lock (rules_renew.cc).
LostReason why_not_ours(const Record& record, Fence fence);

}  // namespace cronlatch::rules
