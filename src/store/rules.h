// SPDX-License-Identifier: Apache-2.0
// Rules: what a lock does, as a pure function of its record, a request and the store's clock. No
// I/O, no waiting. The memory and the file store run on them; the Lua scripts of the Redis store
// say the same and are tested against them call by call. docs/guarantees.md numbers the invariants
// that are named here (AQ, N, R, K, L, C, G).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/lock_stats.h"
#include "core/store.h"

namespace cronlatch::rules {

// What the record says about the lock. Whether a held one is still alive is for the clock (or the
// kernel) to tell.
enum class Seat {
  none,     // there is no record: never granted here, or the store lost it
  free,     // closed by its holder
  held,     // granted and not closed
  revoked,  // closed in the ledger, but its holder may not know yet
  cooling,  // closed by its holder inside min-hold
};

// What ends a grant that nobody closed.
enum class Tenure {
  lease,   // the clock
  vacant,  // no lease: the caller has the kernel's lock, so whoever the record calls its holder is
           // dead
  occupied,  // no lease: somebody else has the kernel's lock
};

// Final answers are remembered per claim (C2, R3): the suffix says which.
enum class Answer : char {
  busy_held = 'h',      // counted as busy: held
  busy_cooling = 'c',   // counted as busy: cooling
  busy_done = 'd',      // counted as busy: done
  group_granted = 'g',  // that busy answer said that the attempt group was granted before
  released = 'r',       // released by its holder
  closed = 'x',  // taken over, or let go without having been held: never to be granted any more
  verdict_counted = 'v',  // reported by a run that was not, or no longer, the holder
};

// Everything a store keeps about one lock.
struct Record {
  Seat seat = Seat::none;
  Claim claim;  // of the last grant
  Identity identity;
  Fence fence = 0;
  Fence stole = 0;  // fence of the predecessor whose expired lease was taken over; 0: none
  ServerTime acquired{};
  ServerTime expires{};  // of the lease, or of the min-hold; zero without either
  Micros ttl{};          // what `expires` was set by: no clock step may make the wait longer (L7)
  Micros min_hold{};     // of the grant: from `acquired` on, the lock stays closed after a crash
  ServerTime born{};     // when this record was created
  std::int64_t day =
      0;  // day (since 1970) the lock was last in use, and entered in the store's index

  std::map<std::string, Counters> jobs;
  std::map<std::string, std::int64_t> groups;  // attempt group -> remembered for kGroupMemory more
  std::map<std::string, std::map<std::string, std::int64_t>>
      once;                                  // job -> run identity -> when it was finished
  std::map<std::string, std::int64_t> seen;  // "<owner>:<attempt>:<answer>" -> remembered until
  bool operator==(const Record&) const = default;
};

// Version 0.1.0 dates a group at its grant and remembers it for a day. So a group is remembered for
// 35 days by both versions when it is dated 34 days ahead.
inline constexpr Micros kGroupMemory = std::chrono::hours(24);
inline constexpr Micros kGroupAhead = std::chrono::hours(34 * 24);
inline constexpr std::size_t kGroupsNewest = 10'000;
inline constexpr Micros kSeenMemory =
    std::chrono::minutes(10);  // or twice the ttl, if that is more
inline constexpr std::size_t kOnceNewest = 128;

// Of a record with a longer text or a larger counter something else is the author: it is damaged.
// Options have at most 200 bytes; a counter leaves room for the longest run in ms.
inline constexpr std::size_t kLongestText = 4'096;
inline constexpr std::int64_t kLargestCounter = (std::int64_t{1} << 53) - 1 - 1'000'000'000'000;

// One verb each; the reply's `asked` is left for the store to fill in. `not_after` is the request's
// give_up by the store's clock: after it nothing is changed and the answer is Stale (G5).
Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Tenure tenure = Tenure::lease);
Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Tenure tenure = Tenure::lease);
Reply decide(Record& record, const Release& request, ServerTime now, ServerTime not_after);

// release --force: ends a live lease in the ledger; its holder keeps the lock from others until it
// releases it, or the lease ends. A lock that only its min-hold keeps closed is opened at once.
Revoked revoke(Record& record, ServerTime now, Tenure tenure = Tenure::lease);

// Reads; changes nothing.
LockView view(std::string lock, const Record& record, ServerTime now,
              Tenure tenure = Tenure::lease);

// No store can do semaphores yet: the refusal they all give to slots other than 1.
std::optional<Unavailable> refuse_slots(const Request& request);

}  // namespace cronlatch::rules
