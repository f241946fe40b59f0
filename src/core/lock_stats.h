// SPDX-License-Identifier: Apache-2.0
// LockStats: the locks and counters of a store, for display and metrics (ls, show, metrics,
// explain, release --force, the exporter). Each store implements it beside Store. Calls block up to
// `give_up` (they are not for the run's loop); list() and show() write nothing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/store.h"

namespace cronlatch {

// Upper bounds in milliseconds of the two histograms; the last bucket is +Inf. Whole numbers:
// stores keep the index.
inline constexpr std::array<std::int64_t, 13> kHoldBucketsMs = {
    1'000,     5'000,     15'000,    30'000,     60'000,     300'000,   900'000,
    1'800'000, 3'600'000, 7'200'000, 21'600'000, 43'200'000, 86'400'000};
inline constexpr std::array<std::int64_t, 8> kWaitBucketsMs = {100,    1'000,   5'000,   15'000,
                                                               60'000, 300'000, 900'000, 3'600'000};

// Index of the bucket of `ms` (size() means +Inf).
template <std::size_t N>
constexpr std::size_t bucket_of(const std::array<std::int64_t, N>& bounds, std::int64_t ms) {
  std::size_t i = 0;
  while (i < N && ms > bounds[i]) ++i;
  return i;
}

// One job's counters of one lock. Always: acquired = released + stolen + revoked + open.
struct Counters {
  // name of the field in the store -> value. Names are those of kCounterNames; absent means zero.
  std::map<std::string, std::int64_t, std::less<>> values;
  std::int64_t get(std::string_view name) const {
    const auto at = values.find(name);
    return at == values.end() ? 0 : at->second;
  }
  bool operator==(const Counters&) const = default;
};

// Every counter a store keeps, in the order they are shown. `hold_ms`, `wait_ms` are sums;
// `hold_<i>`, `wait_<i>` are the buckets above; `last_success`, `last_skip` are server times in
// microseconds.
inline constexpr std::array<std::string_view, 20> kCounterNames = {
    "acquired",    "released",          "stolen",       "revoked",
    "lost",        "skipped_held",      "skipped_done", "wait_timeouts",
    "ungated",     "restored",          "long",         "runs_succeeded",
    "runs_failed", "runs_skipped",      "runs_busy",    "runs_timed_out",
    "runs_lost",   "runs_cannot_start", "last_success", "last_skip"};

enum class LockState {
  free,     // no holder; may have been held before
  held,     // a live lease
  expired,  // granted, lease over, not taken over yet: open
  cooling,  // released inside min-hold
  revoked,  // revoked, its holder has not released it yet
  damaged,  // the stored record is not valid: the error of show() contains why
};

// One of the grants that are open at once (option slots).
struct GrantView {
  LockState state = LockState::held;  // held, expired or revoked
  Identity identity;
  Fence fence = 0;
  std::uint32_t attempt = 0;
  ServerTime acquired{};
  ServerTime expires{};
  bool operator==(const GrantView&) const = default;
};

// A slot that a min-hold keeps closed, for all but the attempt group of its last grant.
struct ClosedSlot {
  ServerTime until{};
  std::string group;
  bool operator==(const ClosedSlot&) const = default;
};

struct LockView {
  std::string lock;
  LockState state = LockState::free;
  Identity identity;  // of the last grant
  Fence fence = 0;
  std::uint32_t attempt = 0;
  ServerTime now{};                        // the store's clock when it was read
  ServerTime acquired{};                   // of the last grant
  ServerTime expires{};                    // zero when the store has no lease
  std::vector<ClosedSlot> closed_slots{};  // after a release or a crash, by the time of the end
  Millis ttl{};
  std::optional<std::int64_t> waiters{};  // runs that wait; none: the store does not know them
  std::uint32_t slots = 1;                // how many may hold the lock at once
  // Of a lock with several slots: the open grants, by fence. `state` is then held with one of them
  // alive; `fence` is of the last grant, the other fields are of the last one in that state.
  std::vector<GrantView> grants{};
  long pid = 0;  // file store: the process that holds the kernel lock, if known
  std::map<std::string, Counters> jobs;  // by job; "" for runs without one
  // The end of a min-hold that keeps the whole lock closed; zero without one.
  ServerTime closed_until() const {
    return closed_slots.size() < slots ? ServerTime{} : closed_slots.front().until;
  }
  bool open() const { return state == LockState::held || state == LockState::expired; }
  static LockView of_damaged(std::string lock, ServerTime now) {
    LockView view;
    view.lock = std::move(lock);
    view.state = LockState::damaged;
    view.now = now;
    return view;
  }
};

struct Revoked {
  bool was_held = false;  // a live lease was revoked
  std::string holder;
  Fence fence = 0;
  Micros remaining{};        // of the lease that was revoked, or of the rest of the min-hold
  bool was_cooling = false;  // there was a min-hold: the lock is free at once
};

inline constexpr std::size_t kAllLocks = std::numeric_limits<std::size_t>::max();

class LockStats {
 public:
  virtual ~LockStats() = default;
  // Sorted by name, with the damaged ones. At most `max_locks`: the last granted ones, if the store
  // has that order.
  virtual Result<std::vector<LockView>> list(TimePoint give_up,
                                             std::size_t max_locks = kAllLocks) = 0;
  virtual Result<LockView> show(
      const std::string& lock, TimePoint give_up) = 0;  // an unknown lock is free, without counters
  virtual Result<Revoked> revoke(const std::string& lock, TimePoint give_up) = 0;
  // Until the store grants locks again (option strict), by its clock: zero when it does now. No
  // value without strict. Writes nothing.
  virtual Result<std::optional<Micros>> quarantine(TimePoint) { return std::optional<Micros>(); }
  // host:port of the server that answered last, where the URL does not name it; "" otherwise.
  virtual std::string server() const { return ""; }
};

// A store as the programs open it.
class Backend : public Store, public LockStats {};

}  // namespace cronlatch
