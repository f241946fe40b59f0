// SPDX-License-Identifier: Apache-2.0
// Random calls on a real server and on the rules: every reply and all stored data must be equal.
// Three properties are checked without the rules: acquired = released + stolen + revoked + open
// holds for each job after every call, fences never fall, and never more leases live than the lock
// has slots. A failure contains its seed; CRONLATCH_SEED
// repeats it, CRONLATCH_STEPS sets the number of steps.
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <random>

#include "function_bench.h"
#include "scripts/live_leases.h"
#include "scripts/random_requests.h"
#include "scripts/record_checks.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

using rules::Record;
using Occurred = std::map<std::string, int>;

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

class Walk {
 public:
  Walk(FunctionBench& bench, Dice& dice, Occurred& occurred, unsigned most_slots)
      : bench_(bench),
        dice_(dice),
        occurred_(occurred),
        requests_(dice, model_, bench.lock, 1s, false) {
    requests_.most_slots = most_slots;
    requests_.slots = most_slots == 1 ? 1 : 1 + static_cast<unsigned>(dice_.below(most_slots));
  }

  void step() {
    move_time();
    lose_data();
    roll_back();
    if (lost_ && dice_.one_in(2)) return compare(*lost_);
    if (is_reserved_of_many() && dice_.one_in(6)) return compare(leave_queue());
    if (requests_.most_slots > 1 && !model_.queue.empty() && dice_.one_in(4))
      return compare(ask_again());
    const auto verb = dice_.below(20);
    if (verb < 10) {
      lost_.reset();
      return compare(requests_.acquire());
    }
    if (verb < 14) return compare(requests_.renew());
    if (verb < 19) return compare(requests_.release());
    compare_revoke();
  }

 private:
  // One of the grants that the lock can have.
  const rules::Slot& any_slot() {
    const std::uint64_t at = model_.more.empty() ? 0 : dice_.below(1 + model_.more.size());
    return at == 0 ? model_ : model_.more[at - 1];
  }
  // One that is reserved; null without one.
  const rules::Slot* reserved_slot() const {
    const auto is_reserved = [&](const rules::Slot& slot) {
      return slot.turn && bench_.now < slot.turn->until;
    };
    if (is_reserved(model_)) return &model_;
    for (const rules::Slot& slot : model_.more)
      if (is_reserved(slot)) return &slot;
    return nullptr;
  }
  bool is_reserved_of_many() const { return reserved_slot() && model_.queue.size() > 1; }
  // The run that the lock is reserved for waits no longer.
  Release leave_queue() {
    Release release = requests_.release();
    release.claim = {reserved_slot()->turn->owner,
                     static_cast<std::uint32_t>(4 + requests_.calls / 40)};
    return release;
  }

  // One of the runs that wait.
  Acquire ask_again() {
    Acquire request = requests_.acquire();
    const auto at = std::next(model_.queue.begin(),
                              static_cast<std::ptrdiff_t>(dice_.below(model_.queue.size())));
    request.claim = {at->first, static_cast<std::uint32_t>(10 + requests_.calls / 10)};
    request.slots = model_.slots;
    if (!dice_.one_in(4)) request.if_busy = IfBusy::wait;
    return request;
  }

  void move_time() {
    // Several slots are full, and several runs wait, only while time passes slowly.
    if (requests_.most_slots > 1 && !dice_.one_in(4))
      return bench_.pass(1ms * static_cast<int>(dice_.below(100)));
    const rules::Slot& slot = any_slot();
    const Micros to_end = slot.expires - bench_.now;
    const Micros to_turn = slot.turn ? slot.turn->until - bench_.now : Micros(0);
    switch (dice_.below(14)) {
      case 0:
        return bench_.pass(1s * static_cast<int>(dice_.below(60)));
      case 1:
        return bench_.pass(1us);
      case 2:
        return bench_.pass(std::max(to_end, Micros(0)));
      case 3:
        return bench_.pass(std::max(to_end - 1us, Micros(0)));
      case 4:
        return bench_.pass(to_end > 0us ? to_end + 1us : 0us);
      case 5:
        return bench_.pass(dice_.one_in(8) ? 10min : 0min);
      case 6:
        return bench_.pass(dice_.one_in(40) ? std::chrono::hours(24) : 0h);
      case 7:
        return step_back(dice_.one_in(20) ? 1s * static_cast<int>(dice_.below(4000)) : 0s);
      case 8:
        return bench_.pass(std::max(to_turn - Micros(dice_.below(2)), Micros(0)));
      case 9:
      case 10:
        return bench_.pass(100ms * static_cast<int>(dice_.below(10)));
      default:
        return bench_.pass(1s * static_cast<int>(dice_.below(8)));
    }
  }

  void step_back(Micros by) {
    bench_.pass(-by);
    leases_.step_back(by);
  }

  // The request of the holder whose record is lost.
  void remember_holder() {
    lost_ = requests_.renew();
    const rules::Slot& slot = any_slot();
    lost_->claim = slot.claim;
    lost_->identity = slot.identity;
    lost_->fence = slot.fence;
    if (slot.claim.owner.empty()) lost_.reset();  // no run held it
    highest_ = 0;
    leases_.clear();
  }

  void lose_data() {
    if (!dice_.one_in(100)) return;
    remember_holder();
    if (dice_.one_in(2)) {
      bench_.lose_all();
      model_ = {};
      occurred_["lost all"]++;
      return;
    }
    bench_.lose_record();
    has_saved_ = false;  // its counters are younger than its record
    Record left;
    left.jobs = model_.jobs;
    left.groups = model_.groups;
    left.once = model_.once;
    left.answers = model_.answers;
    left.queue = model_.queue;
    left.asked = model_.asked;
    model_ = left;
    whole_ = false;
    occurred_["lost the record"]++;
  }

  // The server goes back to an earlier state, as a promoted standby that lags behind.
  void roll_back() {
    if (!has_saved_ || dice_.one_in(60)) {
      bench_.save();
      saved_ = model_;
      has_saved_ = true;
      return;
    }
    if (!dice_.one_in(80)) return;
    remember_holder();
    model_ = saved_;
    bench_.restore();
    occurred_["rolled back"]++;
  }

  template <class Verb>
  void compare(const Verb& verb) {
    const Micros spare = dice_.one_in(10) ? dice_.of<Micros>({-1us, 0us, -1s}) : 1min;
    const Reply answer = compare(verb, bench_.now + spare);
    if (!dice_.one_in(3)) return;
    // A caller that did not receive the answer repeats the request.
    const Reply again = compare(verb, bench_.now + spare);
    if (const auto* granted = std::get_if<Granted>(&answer)) {
      ASSERT_TRUE(std::holds_alternative<Granted>(again)) << name_of(again);
      EXPECT_EQ(std::get<Granted>(again).fence, granted->fence);
    }
    occurred_["repeated"]++;
  }

  template <class Verb>
  Reply compare(const Verb& verb, ServerTime not_after) {
    const postgres::DecodedRow answer = bench_.send(verb, not_after);
    const Reply expected = rules::decide(model_, verb, bench_.now, not_after);
    EXPECT_EQ(answer.reply, expected)
        << "functions: " << name_of(answer.reply) << ", rules: " << name_of(expected);
    EXPECT_EQ(answer.now.us, bench_.now.us);
    occurred_[name_of(expected)]++;
    leases_.note(verb, answer.reply, bench_.now);
    EXPECT_LE(leases_.alive(bench_.now), bench_.record().slots) << "too many leases";
    if (model_.slots > 1) occurred_["with several slots"]++;
    check();
    return answer.reply;
  }

  void compare_revoke() {
    const Revoked answer = bench_.revoke();
    const Revoked expected = rules::revoke(model_, bench_.now);
    EXPECT_EQ(answer.was_held, expected.was_held);
    EXPECT_EQ(answer.holder, expected.holder);
    EXPECT_EQ(answer.fence, expected.fence);
    EXPECT_EQ(answer.remaining, expected.remaining);
    EXPECT_EQ(answer.was_cooling, expected.was_cooling);
    occurred_[expected.was_held      ? "revoked"
              : expected.was_cooling ? "ended min-hold"
                                     : "revoked nothing"]++;
    check();
  }

  void check() {
    ++requests_.calls;
    Record kept = bench_.record();
    if (!bench_.read_sets) {
      kept.groups = model_.groups;
      kept.once = model_.once;
      kept.answers = model_.answers;
    }
    bench_.read_sets = requests_.calls % 8 == 0;
    if (whole_) expect_law(kept);
    Fence newest = kept.fence;
    for (const rules::Slot& slot : kept.more) newest = std::max(newest, slot.fence);
    EXPECT_GE(newest, highest_) << "the fence fell";
    highest_ = newest;
    kept.day = model_.day;  // of the index of Redis; this store has none
    expect_same_record(kept, model_);
  }

  FunctionBench& bench_;
  Dice& dice_;
  Occurred& occurred_;
  Record model_;
  Record saved_;
  bool has_saved_ = false;
  bool whole_ = true;  // false after the record was lost without its counters
  RandomRequests requests_;
  std::optional<Renew> lost_;
  Fence highest_ = 0;
  LiveLeases leases_;
};

constexpr std::uint64_t kCallsPerLock = 250;

// How often each answer occurred in this many steps, on locks with at most these slots.
struct Walked {
  std::uint64_t steps;
  Occurred occurred;
};

Walked walk(unsigned most_slots) {
  const std::uint64_t seed = from_environment("CRONLATCH_SEED", std::random_device{}());
  // With the repetitions 100,000 calls in a long test, else 8,000 on 24 locks.
  const std::uint64_t steps = from_environment("CRONLATCH_STEPS", is_long_run() ? 75'000 : 6'000);
  std::printf("%llu steps with CRONLATCH_SEED=%llu\n", static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(seed));
  Dice dice(seed);
  Occurred occurred;
  FunctionBench bench;
  const ServerTime start = bench.now;
  for (std::uint64_t done = 0; done < steps && !::testing::Test::HasFailure();) {
    bench.lock = "ns/walk-" + std::to_string(done);
    bench.now = start;
    bench.read_sets = true;
    Walk one(bench, dice, occurred, most_slots);
    for (std::uint64_t i = 0; i < kCallsPerLock && done < steps && !::testing::Test::HasFailure();
         ++i, ++done)
      one.step();
  }
  EXPECT_FALSE(::testing::Test::HasFailure()) << "repeat with CRONLATCH_SEED=" << seed;
  return {steps, occurred};
}

void expect_occurred(Occurred& occurred, std::initializer_list<const char*> answers) {
  for (const char* answer : answers) EXPECT_GT(occurred[answer], 0) << answer << " did not occur";
}

TEST(PostgresProperty, FunctionsDecideAsTheRulesInVirtualTime) {
  auto [steps, occurred] = walk(1);
  expect_occurred(occurred,
                  {"granted",         "granted stole",      "busy 0",       "busy 0 place",
                   "busy 0 group",    "busy 0 group place", "busy 1",       "busy 2",
                   "renewed",         "renewed restored",   "not holder 0", "not holder 1",
                   "not holder 2",    "not holder 3",       "released",     "released wakes",
                   "too late closed", "too late",           "revoked",      "revoked nothing",
                   "lost all",        "lost the record",    "rolled back",  "ended min-hold",
                   "repeated"});
  if (steps < 50'000) return;  // too few for these
  expect_occurred(occurred, {"busy 1 place", "busy 3", "busy 3 wakes", "busy 3 place",
                             "busy 3 place wakes", "not holder 1 wakes"});
}

// Each lock has 1 to 4 slots; some requests have another number.
TEST(PostgresSlotsProperty, FunctionsDecideAsTheRulesWithSeveralSlots) {
  auto [steps, occurred] = walk(4);
  expect_occurred(occurred, {"with several slots",
                             "other slots",
                             "granted",
                             "granted stole",
                             "busy 0",
                             "busy 0 place",
                             "busy 2",
                             "renewed",
                             "renewed restored",
                             "not holder 0",
                             "not holder 1",
                             "not holder 2",
                             "not holder 3",
                             "released",
                             "released wakes",
                             "too late closed",
                             "revoked",
                             "revoked nothing",
                             "lost all",
                             "lost the record",
                             "rolled back",
                             "repeated"});
  if (steps < 50'000) return;  // too few for these
  expect_occurred(occurred, {"busy 1", "busy 3", "ended min-hold"});
}

}  // namespace
}  // namespace cronlatch::testing
