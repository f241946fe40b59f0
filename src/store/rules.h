// SPDX-License-Identifier: Apache-2.0
// The rules of a lock: pure functions of its record, a request and the store's clock. No I/O, no
// waiting. The memory store and the file store call them; the Lua scripts of the Redis store decide
// the same, and tests compare them call by call. docs/guarantees.md numbers the invariants that the
// comments name (AQ, N, R, K, L, C, G).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/lock_stats.h"
#include "core/shared_key.h"
#include "core/store.h"

namespace cronlatch::rules {

// The state in the record. The clock (or the kernel) decides whether a held lock has a live holder.
enum class HoldState {
  none,     // no record: never granted in this store, or the store lost it
  free,     // released by its holder
  held,     // granted and not released
  revoked,  // counted as revoked; its holder may not have read that yet
  cooling,  // released by its holder within min-hold
};

// What ends a grant that was not released.
enum class Expiry {
  lease,           // the clock
  holder_gone,     // no lease: no other process has the kernel lock, so the recorded holder is dead
  holder_present,  // no lease: another process has the kernel lock
};

// Final answers are kept per claim (C2, R3); this is the suffix of their names.
enum class Answer : char {
  busy_held = 'h',        // counted as busy: held
  busy_cooling = 'c',     // counted as busy: cooling
  busy_done = 'd',        // counted as busy: done
  busy_queued = 'q',      // counted as busy: queued
  group_granted = 'g',    // that busy answer had group_granted set
  released = 'r',         // released by its holder
  closed = 'x',           // taken over, or released without a grant: never granted again
  verdict_counted = 'v',  // the verdict of a run that is not the holder was counted
};

// A free slot is reserved for the first run that waits.
struct Turn {
  std::string owner;
  ServerTime until{};
  bool operator==(const Turn&) const = default;
};

// The option `slots` is the number of slots of a lock. Each slot has at most one grant.
struct Slot {
  HoldState state = HoldState::none;
  Claim claim;  // of its last grant
  Identity identity;
  Fence fence = 0;
  Fence stole = 0;  // fence of the expired grant that was taken over; 0: none
  ServerTime acquired{};
  ServerTime expires{};  // of the lease, or of the min-hold; zero without either
  Micros ttl{};          // the length that set `expires`: the longest wait after a clock step (L7)
  Micros min_hold{};     // of the grant, from `acquired`: the slot stays closed after a crash
  std::optional<Turn> turn;  // void after the next grant
  bool operator==(const Slot&) const = default;
};

// All data of one lock. The record is also its first slot, by default the only one. A record exists
// if its first slot was granted.
struct Record : Slot {
  unsigned slots = 1;      // set by the grant of an idle lock; 1 after the last release
  std::vector<Slot> more;  // slots 2 and higher; state none: not granted yet
  ServerTime born{};       // creation of this record
  std::string shared{};    // what the last grant wrote to another program's key; "" for nothing
  std::int64_t day = 0;  // days since 1970: last use of the lock, when it was entered in the index

  std::map<std::string, Counters> jobs;
  std::map<std::string, std::int64_t>
      groups;  // attempt group -> kept for kGroupMemory after this time
  std::map<std::string, std::map<std::string, std::int64_t>>
      once;                                     // job -> run identity -> when it was finished
  std::map<std::string, std::int64_t> answers;  // "<owner>:<attempt>:<answer>" -> kept until
  std::map<std::string, std::int64_t> queue;    // owner of a run that waits -> its ticket
  std::map<std::string, std::int64_t> asked;    // the same owners -> their last request
  bool operator==(const Record&) const = default;
};

// The key of another program that shares the lock (core/shared_key.h), as the store has it.
struct ForeignKey {
  KeyFormat format = KeyFormat::cronlock;  // cronlock or redlock
  std::optional<std::string> value{};      // no value: there is no key
  std::optional<Micros> life{};            // no value: the key does not expire
};

// A grant writes a time that is far ahead, so that the clock of no client can reach it: that of
// cronlock's own default. A value of another program is in effect for a minute after its time.
inline constexpr std::int64_t kForeignRelease = 86'401;  // seconds
// Added for a grant: its fence modulo this. Otherwise its value would be that of a cronlock that
// writes the key in the same second.
inline constexpr std::int64_t kForeignSpread = 86'400;
inline constexpr std::int64_t kLatestForeign = 9'000'000'000;
inline constexpr Micros kForeignMargin = std::chrono::minutes(1);

// Version 0.1.0 dates a group at its grant and keeps it for a day. With a date 34 days ahead, both
// versions keep it for 35 days.
inline constexpr Micros kGroupMemory = std::chrono::hours(24);
inline constexpr Micros kGroupAhead = std::chrono::hours(34 * 24);
inline constexpr std::size_t kMaxGroups = 10'000;
inline constexpr Micros kAnswerMemory =
    std::chrono::minutes(10);  // or twice the ttl, if that is more
inline constexpr std::size_t kMaxOnceMarks = 128;

// ---- the queue (rules_queue.cc; docs/decisions/0036-waiting-in-order.md) ----
// A run that waits sends a request at least every 2.2 s. Without one for this time it is dead.
inline constexpr Micros kPlaceLife = std::chrono::seconds(6);
// A run without a place is granted a free lock when no other run has sent a request to wait for
// this time.
inline constexpr Micros kNewcomerPause = std::chrono::seconds(3);
// How long a free lock is reserved for the first run that waits.
inline constexpr Micros kTurn = std::chrono::seconds(2);
inline constexpr std::size_t kMaxPurgedPlaces = 100;  // of one request

// Whether runs wait in order. Stores without leases keep no order.
enum class Waiting { unordered, in_order };

// A record with a longer text or a larger counter was written by another program: it is damaged.
// Options have at most 200 bytes; a counter has room for the longest run in ms.
inline constexpr std::size_t kMaxText = 4'096;
inline constexpr std::int64_t kMaxCounter = (std::int64_t{1} << 53) - 1 - 1'000'000'000'000;

// One function per verb. The store sets `sent_at` of the reply. `not_after` is the request's
// give_up by the store's clock: after it, nothing changes and the reply is TooLate (G5).
// `foreign`: for a lock that shares a key; null for any other.
Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Expiry expiry = Expiry::lease, Waiting waiting = Waiting::in_order,
             ForeignKey* foreign = nullptr);
Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Expiry expiry = Expiry::lease, ForeignKey* foreign = nullptr);
Reply decide(Record& record, const Release& request, ServerTime now, ServerTime not_after,
             Waiting waiting = Waiting::in_order, ForeignKey* foreign = nullptr);

// The owner that the request reserved the lock for; "" without one.
const std::string& wake_of(const Reply& reply);

// For release --force. Counts each live lease as revoked; its holder excludes other runs until it
// releases the lock, or the lease ends. A slot that only its min-hold keeps closed is opened at
// once. Reports the revoked lease with the highest fence, and the longest time that remains.
// Removes the shared key, also if another program wrote it, unless a lease is in effect.
Revoked revoke(Record& record, ServerTime now, Expiry expiry = Expiry::lease,
               ForeignKey* foreign = nullptr);

// Changes nothing.
LockView view(std::string lock, const Record& record, ServerTime now,
              Expiry expiry = Expiry::lease);
// The closed slots by the end of their min-hold, and the grants by their fence.
void sort_slots(LockView& view);

// The same lock while another program has its key; no lease of the lock itself is in effect.
// `shared`: of its record. False when the value is none that the other program can have written.
bool show_foreign(LockView& view, const std::string& shared, const ForeignKey& foreign);

// ---- several slots (rules_slots.cc; docs/decisions/0041-slots.md) ----
inline constexpr unsigned kMaxSlots = 1'000;
// The refusal of slots other than 1, for a store that supports one holder only. `where`: its name.
std::optional<Unavailable> refuse_slots(const Request& request,
                                        std::string_view where = "this store");
// A holder uses `stored` slots, and the request another number.
Unavailable other_slots(const Acquire& request, unsigned stored, const std::string& holder);

}  // namespace cronlatch::rules
