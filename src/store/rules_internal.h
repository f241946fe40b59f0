// SPDX-License-Identifier: Apache-2.0
// Functions that several verbs share. Only rules*.cc include this header.
#pragma once

#include "store/rules.h"

namespace cronlatch::rules {

// ---- time (rules.cc) ----
// The grant has not expired: its holder may still run.
bool alive(const Slot& slot, ServerTime now, Expiry expiry);
// L7: after a backward step of the clock no wait is longer than the recorded length.
ServerTime clamped_expiry(const Slot& slot, ServerTime now, Expiry expiry);
void clamp(Slot& slot, ServerTime now, Expiry expiry);
// L0: the holder did not release an expired grant, and its min-hold has not passed.
bool crashed_in_min_hold(const Slot& slot, ServerTime now, Expiry expiry);
// When the slot could be granted without a renewal.
ServerTime end_of(const Slot& slot, ServerTime now, Expiry expiry);

// ---- slots (rules_slots.cc) ----
using SlotList = std::vector<Slot*>;
using ConstSlotList = std::vector<const Slot*>;
SlotList slot_list_of(Record& record);  // the first is the record itself
ConstSlotList slot_list_of(const Record& record);
// The slot of the claim, in any state; null without one.
Slot* slot_of(Record& record, const Claim& claim);
// The slot with the highest fence: the last grant.
const Slot& newest(const Record& record);
// The slot that becomes free first, of those that are not free.
const Slot& next_to_end(const Record& record, ServerTime now, Expiry expiry);
// How many slots but these the job holds.
std::int64_t held_by_others(const Record& record, const std::string& job, const SlotList& but);
// For a grant with another number of slots: all of them are free.
void set_slots(Record& record, unsigned slots);
// After the last release a lock without runs that wait has one slot again. It contains the
// last grant, so that fences still rise.
void reset_if_idle(Record& record);

// ---- kept answers (rules_counters.cc) ----
using Dated = std::map<std::string, std::int64_t>;
// Removes the entries dated at or before `limit`.
void purge(Dated& dated, std::int64_t limit);
bool answered(const Record& record, const Claim& claim, Answer answer, ServerTime now);
void remember(Record& record, const Claim& claim, Answer answer, ServerTime now, Micros ttl);
// Records the day of the last use. On a new day the store enters the lock in its index again, so
// that only the names of expired locks become old there.
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
// L5: a group that may be retried is kept for 35 days, a group that succeeded for one day.
enum class GroupState { open, finished };
void remember_group(Record& record, const std::string& group, GroupState is, ServerTime now);
// `wanted`, or the later date that makes `name` the newest after a backward step of the clock.
std::int64_t newest_date(const Dated& dated, const std::string& name, std::int64_t wanted);
bool is_done(const Record& record, const Identity& identity, Micros once_ttl, ServerTime now);
void mark_done(Record& record, const Identity& identity, Micros once_ttl, ServerTime now);

// ---- the queue (rules_queue.cc) ----
struct Place {
  std::int64_t ticket = 0;  // 0: this owner has no live place
  std::int64_t tail = 0;    // the ticket of a new place
};
// Removes dead places, also that of the owner. Once, and first, in each request that needs the
// queue.
Place open_queue(Record& record, const std::string& owner, ServerTime now);
// The slot that is granted to this owner before all others, of the free ones; null without one. At
// most `most` of them count: the request's slots.
Slot* next_slot(const Record& record, const SlotList& free, std::size_t most,
                const std::string& owner, const Place& place, ServerTime now);
// The next functions return the owner that a slot was reserved for, "" if there is none.
// Reserves a free slot that is granted to another run than the caller.
std::string reserve(Record& record, const SlotList& free, ServerTime now);
// R5: the slot was released.
std::string hand_over(Record& record, Slot& slot, ServerTime now);
// Until the first reservation ends; zero without one.
Micros until_turn(const Record& record, ServerTime now);
// Q7: the owner waits no longer. Passes its reservation on.
std::string leave_queue(Record& record, const std::string& owner, const Place& place,
                        ServerTime now);
// The owner waits. Returns how many places are before its own, at most kMaxAhead.
std::uint32_t keep_place(Record& record, const std::string& owner, const Place& place,
                         ServerTime now);
std::int64_t count_waiters(const Record& record, ServerTime now);

// ---- the key of another program (rules_foreign.cc) ----
enum class KeyHold {
  none,        // no key is shared, or there is none
  own,         // the last grant wrote it
  past,        // of another program, no longer in effect
  foreign,     // of another program
  unreadable,  // no value of the other program
};
struct KeyState {
  KeyHold hold = KeyHold::none;
  Micros remaining{};  // of another program's value, at most; zero: unknown
  bool is_foreign() const { return hold != KeyHold::none && hold != KeyHold::own; }
  bool is_in_effect() const { return hold == KeyHold::foreign || hold == KeyHold::unreadable; }
};
KeyState key_state(const std::string& shared, const ForeignKey* foreign, ServerTime now);
void claim_key(Record& record, ForeignKey* foreign, ServerTime now);
// `rest`: of a min-hold, during which the key stays.
void release_key(Record& record, ForeignKey* foreign, ServerTime now, Micros rest);
Unavailable unreadable_key();

// ---- shared decisions ----
// Records the request's run as the holder of the slot (rules_acquire_grant.cc); counts nothing.
struct Grant {
  const Claim& claim;
  const Identity& identity;
  Fence fence;
  ServerTime acquired;
  Micros ttl;
  Micros min_hold;
};
void set_holder(Record& record, Slot& slot, const Grant& grant, ServerTime now, Expiry expiry);
// Why a caller that is not the holder lost the lock (rules_renew.cc).
LostReason loss_reason(const Record& record, Fence fence);

}  // namespace cronlatch::rules
