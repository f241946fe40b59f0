// SPDX-License-Identifier: Apache-2.0
// Random requests for one lock, many of them about its current grant.
#pragma once

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

#include "core/store.h"
#include "store/rules.h"

namespace cronlatch::testing {

using namespace std::chrono_literals;

// For CRONLATCH_SEED, which repeats a failed test.
inline std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }

 private:
  std::mt19937_64 engine_;
};

class RandomRequests {
 public:
  // `unit`: the length of a second; every length is a multiple of it. `keeps_once`: no mark expires
  // during the test.
  RandomRequests(Dice& dice, const rules::Record& record, std::string lock_name, Micros unit,
                 bool keeps_once)
      : lock(std::move(lock_name)),
        dice_(dice),
        model_(record),
        unit_(unit),
        keeps_once_(keeps_once) {}

  std::string lock;
  std::uint64_t calls = 0;  // so far: later calls have larger attempt numbers
  // Most requests have these slots, others any up to `most_slots`.
  unsigned slots = 1;
  unsigned most_slots = 1;

  Request any() {
    ++calls;
    const auto verb = dice_.below(20);
    if (verb < 10) return acquire();
    if (verb < 14) return renew();
    return release();
  }
  Acquire acquire() {
    Acquire a;
    a.lock = lock;
    a.claim = claim();
    a.identity = identity();
    a.ttl = ttl();
    a.once_ttl = once_ttl();
    a.if_busy = dice_.of({IfBusy::wait, IfBusy::skip, IfBusy::fail, IfBusy::timed_out});
    a.waited = Millis(dice_.one_in(2) ? 0 : dice_.below(4'000'000));
    a.min_hold = min_hold();
    a.slots = any_slots();
    if (most_slots > 1 && dice_.one_in(2)) a.if_busy = IfBusy::wait;
    return a;
  }
  Renew renew() {
    Renew r;
    r.lock = lock;
    r.claim = claim();
    r.identity = identity();
    r.fence = fence();
    r.ttl = ttl();
    r.slots = any_slots();
    return r;
  }
  Release release() {
    Release r;
    r.lock = lock;
    r.claim = claim();
    r.identity = identity();
    r.fence = fence();
    r.verdict = dice_.of({RunVerdict::succeeded, RunVerdict::succeeded, RunVerdict::failed,
                          RunVerdict::timed_out, RunVerdict::lost, RunVerdict::cannot_start,
                          RunVerdict::given_back, RunVerdict::ungated});
    r.overlong = dice_.one_in(3);
    r.held = Millis(dice_.below(90'000'000));
    r.mark_done = dice_.one_in(3);
    r.min_hold = min_hold();
    r.once_ttl = once_ttl();
    return r;
  }

 private:
  // The requests are about one of the slots.
  const rules::Slot& slot() {
    const std::uint64_t at = model_.more.empty() ? 0 : dice_.below(1 + model_.more.size());
    return at == 0 ? model_ : model_.more[at - 1];
  }
  unsigned any_slots() {
    if (most_slots == 1 || !dice_.one_in(8)) return slots;
    return 1 + static_cast<unsigned>(dice_.below(most_slots));
  }
  Claim claim() {
    const rules::Slot& of = slot();
    if (of.turn && dice_.one_in(3))
      return {of.turn->owner, static_cast<std::uint32_t>(3 + calls / 40)};
    if (of.state != rules::HoldState::none && dice_.one_in(2)) return of.claim;
    // Several slots are full, and several runs wait, only with many runs that go on requesting.
    if (most_slots > 1 && dice_.one_in(2))
      return {dice_.of({"g", "h", "i", "j"}), static_cast<std::uint32_t>(1 + calls / 25)};
    return {dice_.of({"a", "b", "c", "d", "e", "f"}),
            static_cast<std::uint32_t>(1 + dice_.below(3 + calls / 40))};
  }
  Identity identity() {
    return {"pod", dice_.of({"", "ns/j"}), dice_.of({"", "", "g1", "g2"}),
            dice_.of({"", "", "t1", "t2", "t3"})};
  }
  Millis length(Micros d) { return std::chrono::ceil<Millis>(d); }
  Millis ttl() { return length(unit_ * dice_.of({5, 30, 600})); }
  Millis once_ttl() { return keeps_once_ ? 24h : length(unit_ * dice_.of({0, 40, 4000})); }
  // Zero, older than the record's, the record's, or newer (of a grant that the store has lost).
  Fence fence() {
    const rules::Slot& of = slot();
    switch (dice_.below(8)) {
      case 0:
        return 0;
      case 1:
        return 1'700'000'000'000'000;
      case 2:
        return of.fence + dice_.below(3);
      default:
        return of.fence;
    }
  }
  Millis min_hold() { return dice_.one_in(2) ? 0ms : length(unit_ * dice_.of({20, 100})); }

  Dice& dice_;
  const rules::Record& model_;
  Micros unit_;
  bool keeps_once_;
};

}  // namespace cronlatch::testing
