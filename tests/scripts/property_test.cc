// SPDX-License-Identifier: Apache-2.0
// Random calls on a real server and on the rules: every reply and all stored data must be equal.
// Four properties are checked without the rules: acquired = released + stolen + revoked + open
// holds for each job after every call, a repeated call gets the same answer, fences never fall, and
// never more leases live than the lock has slots.
// A failure contains its seed; CRONLATCH_SEED repeats it, CRONLATCH_STEPS sets the number of steps.
#include <chrono>
#include <cstdlib>
#include <random>

#include "core/shared_key.h"
#include "live_leases.h"
#include "random_requests.h"
#include "record_checks.h"
#include "support/long_tests.h"
#include "support/script_bench.h"

namespace cronlatch::testing {
namespace {

using rules::HoldState;
using rules::Record;

// How often each answer occurred; a test must see every answer at least once.
using Occurred = std::map<std::string, int>;

constexpr const char* kSuffixes[] = {"",       ":stats", ":groups", ":seen",     ":slots",
                                     ":queue", ":asked", ":once",   ":once:ns/j"};

class Walk {
 public:
  // `unit`: the length of a second; every length is a multiple of it.
  Walk(ScriptBench& bench, Dice& dice, Occurred& occurred, TimeOf time, Micros unit,
       unsigned most_slots)
      : shared_(shared_key_of_lock(bench.lock)),
        bench_(bench),
        dice_(dice),
        occurred_(occurred),
        time_(time),
        unit_(unit),
        requests_(dice, model_, bench.lock, unit, time == TimeOf::server) {
    if (shared_) foreign_.format = shared_->format;
    requests_.most_slots = most_slots;
    requests_.slots = most_slots == 1 ? 1 : 1 + static_cast<unsigned>(dice_.below(most_slots));
  }

  void step() {
    if (time_ == TimeOf::test)
      move_time();
    else if (dice_.one_in(6))
      await_expiry();
    lose_data();
    roll_back();
    if (shared_ && dice_.one_in(6)) change_foreign_key();
    if (lost_ && dice_.one_in(2)) return compare(*lost_);
    const auto verb = dice_.below(20);
    if (verb < 10) {
      lost_.reset();
      return compare(requests_.acquire());
    }
    if (verb < 14) return compare(requests_.renew());
    if (verb < 19) return compare(requests_.release());
    compare_revoke();
  }
  bool whole = true;  // false after the record was lost without its counters: the law does not hold

 private:
  // Waits until the server's clock reaches the end of a short lease.
  void await_expiry() {
    if (model_.expires - bench_.now > unit_ * 30) return;
    while (bench_.now < model_.expires) {
      const RedisAnswer time = bench_.client({"TIME"});
      ASSERT_EQ(time.elements.size(), 2u);
      bench_.now.us =
          std::stoll(time.elements[0].text) * 1'000'000 + std::stoll(time.elements[1].text);
    }
  }

  // As the other program does, with and without a lock of its own.
  void change_foreign_key() {
    if (dice_.one_in(3)) {
      bench_.client({"DEL", shared_->key});
      foreign_.value.reset();
      return;
    }
    const auto ahead = dice_.of<std::int64_t>({-4000, -61, -60, -59, 0, 5, 86401});
    const std::int64_t seconds = bench_.now.us / 1'000'000 + ahead;
    foreign_.value = shared_->format == KeyFormat::redlock
                         ? "token" + std::to_string(dice_.below(9))
                         : std::to_string(seconds);
    bench_.client({"SET", shared_->key, *foreign_.value});
  }

  rules::ForeignKey* foreign() { return shared_ ? &foreign_ : nullptr; }

  // What a grant wrote expires by the real clock of the server: a grant with the key and one
  // without it get the same answers.
  void check_foreign_key() {
    const RedisAnswer found = bench_.client({"GET", shared_->key});
    const bool is_own = foreign_.value && *foreign_.value == model_.shared;
    if (found.text.empty() && is_own) foreign_.value.reset();
    EXPECT_EQ(found.text, foreign_.value.value_or(""));
  }

  void move_time() {
    const Micros to_end = model_.expires - bench_.now;
    switch (dice_.below(12)) {
      case 0:
        bench_.pass(unit_ * static_cast<int>(dice_.below(60)));
        break;
      case 1:
        bench_.pass(1us);
        break;
      case 2:
        if (to_end > 0us) bench_.pass(to_end);
        break;
      case 3:
        if (to_end > 1us) bench_.pass(to_end - 1us);
        break;
      case 4:
        bench_.pass(to_end > 0us ? to_end + 1us : 0us);
        break;
      case 5:
        if (dice_.one_in(8)) bench_.pass(10min);
        break;
      case 6:
        if (dice_.one_in(40)) bench_.pass(std::chrono::hours(24));
        break;
      case 7:
        if (dice_.one_in(20)) step_back(unit_ * static_cast<int>(dice_.below(4000)));
        break;
      default:
        bench_.pass(unit_ * static_cast<int>(dice_.below(8)));
        break;
    }
  }

  void step_back(Micros by) {
    bench_.pass(-by);
    leases_.step_back(by);
  }

  void lose_data() {
    if (!dice_.one_in(100)) return;
    lost_ = requests_.renew();
    const rules::Slot& lost_slot = any_slot();
    lost_->claim = lost_slot.claim;
    lost_->fence = lost_slot.fence;
    if (lost_slot.claim.owner.empty()) lost_.reset();  // no run held it
    leases_.clear();
    std::vector<std::string> gone{"DEL", bench_.key()};
    if (dice_.one_in(2)) {
      for (const char* suffix : kSuffixes) gone.push_back(bench_.key(suffix));
      model_ = {};
      highest_ = 0;
      if (shared_) gone.push_back(shared_->key);
      foreign_.value.reset();
      occurred_["lost all"]++;
    } else {
      saved_.reset();  // its counters are younger than its record
      Record left;
      left.jobs = model_.jobs;
      left.groups = model_.groups;
      left.once = model_.once;
      left.answers = model_.answers;
      left.queue = model_.queue;
      left.asked = model_.asked;
      model_ = left;
      highest_ = 0;
      // The key that the lost grant wrote is now that of another program; its life is not compared.
      if (shared_) bench_.client({"PERSIST", shared_->key});
      whole = false;
      occurred_["lost the record"]++;
    }
    bench_.client(gone);
  }

  // Sometimes the server goes back to an earlier state, as a promoted replica that lags behind; the
  // holder of the newest grant renews.
  void roll_back() {
    if (time_ != TimeOf::test) return;
    if (!saved_ || dice_.one_in(60)) {
      saved_ = Saved{model_, save(), foreign_};
      return;
    }
    if (!dice_.one_in(80)) return;
    lost_ = requests_.renew();
    const rules::Slot& lost_slot = any_slot();
    lost_->claim = lost_slot.claim;
    lost_->identity = lost_slot.identity;
    lost_->fence = lost_slot.fence;
    if (lost_slot.claim.owner.empty()) lost_.reset();
    leases_.clear();
    model_ = saved_->model;
    restore(saved_->keys);
    foreign_ = saved_->foreign;
    if (shared_) bench_.client({"DEL", shared_->key});
    if (foreign_.value) bench_.client({"SET", shared_->key, *foreign_.value});
    highest_ = 0;  // the server does not have the lost grant until its holder restores it
    occurred_["rolled back"]++;
  }
  std::map<std::string, std::string> save() {
    std::map<std::string, std::string> keys;
    for (const char* suffix : kSuffixes)
      keys[suffix] = bench_.client({"DUMP", bench_.key(suffix)}).text;
    return keys;
  }
  void restore(const std::map<std::string, std::string>& keys) {
    for (const auto& [suffix, content] : keys) {
      bench_.client({"DEL", bench_.key(suffix)});
      if (content.empty()) continue;
      const RedisAnswer answer = bench_.client({"RESTORE", bench_.key(suffix), "0", content});
      ASSERT_FALSE(answer.is_error()) << answer.text;
    }
  }

  template <class Verb>
  void compare(const Verb& verb) {
    const Micros spare = dice_.one_in(10) ? dice_.of<Micros>({-1us, 0us, -1s}) : 1min;
    const Reply answer = compare(verb, bench_.now + spare);
    if (time_ == TimeOf::test && dice_.one_in(3)) repeat(verb, spare, answer);
  }
  template <class Verb>
  Reply compare(const Verb& verb, ServerTime not_after) {
    EXPECT_NE(verb.claim.owner, "") << "no program sends this";
    const redis::DecodedReply answer = bench_.send(verb, not_after);
    const std::int64_t day_before = model_.day;
    const Reply expected = decide(verb, answer.now, not_after);
    EXPECT_EQ(answer.reply, expected)
        << "scripts: " << name_of(answer.reply) << ", rules: " << name_of(expected);
    EXPECT_EQ(answer.index, model_.day != day_before);
    occurred_[name_of(expected)]++;
    leases_.note(verb, answer.reply, bench_.now);
    EXPECT_LE(leases_.alive(bench_.now), bench_.last_record().slots) << "too many leases";
    if (model_.slots > 1) occurred_["with several slots"]++;
    count_foreign(expected);
    if constexpr (std::is_same_v<Verb, Release>) {
      const bool late = std::holds_alternative<TooLate>(answer.reply);
      if (verb.mark_done && !verb.identity.once.empty() && verb.once_ttl > 0ms && !late)
        expect_marked(verb, answer.now);
    }
    check();
    return answer.reply;
  }

  Reply decide(const Release& release, ServerTime now, ServerTime not_after) {
    return rules::decide(model_, release, now, not_after, rules::Waiting::in_order, foreign());
  }
  Reply decide(const Acquire& acquire, ServerTime now, ServerTime not_after) {
    return rules::decide(model_, acquire, now, not_after, rules::Expiry::lease,
                         rules::Waiting::in_order, foreign());
  }
  Reply decide(const Renew& renew, ServerTime now, ServerTime not_after) {
    return rules::decide(model_, renew, now, not_after, rules::Expiry::lease, foreign());
  }
  void count_foreign(const Reply& reply) {
    if (!shared_) return;
    const auto* busy = std::get_if<Busy>(&reply);
    if (busy != nullptr && busy->holder == foreign_holder(shared_->format))
      occurred_["held by another program"]++;
    const bool is_foreign = foreign_.value && *foreign_.value != model_.shared;
    if (is_foreign && model_.state == HoldState::held) occurred_[name_of(reply) + " foreign"]++;
    if (foreign_.value && model_.state == HoldState::cooling && !is_foreign)
      occurred_["key kept for a min-hold"]++;
  }

  // A caller that did not receive the answer repeats the request: the answer must be the same. A
  // counted answer stays the same when time passes and other claims send requests. This is checked
  // without the rules.
  template <class Verb>
  void repeat(const Verb& verb, Micros spare, const Reply& first) {
    const ServerTime began = bench_.now;
    const bool counted = is_counted(verb, first);
    if (counted && dice_.one_in(2))
      other_requests_before(kept_until(verb.claim, is_busy(first) ? "hcdgq" : "r"));
    const Reply again = compare(verb, bench_.now + (counted ? 1min : spare));
    // The first request was given a place, or a reservation, or passed one on.
    if (!counted && takes_place(first)) return;
    EXPECT_EQ(name_of(without_place(again)), name_of(without_place(without_restored(first))))
        << (bench_.now - began).count() << " us later";
    if (const auto* granted = std::get_if<Granted>(&first)) {
      EXPECT_EQ(got<Granted>(again).fence, granted->fence);
    }
    occurred_["repeated"]++;
  }
  void other_requests_before(ServerTime forget_at) {
    if (forget_at <= bench_.now) return;
    bench_.pass(1us * static_cast<int>(
                          dice_.below(static_cast<std::uint64_t>((forget_at - bench_.now) / 1us))));
    Acquire other = requests_.acquire();
    other.claim = {"e", static_cast<std::uint32_t>(1 + requests_.calls)};
    compare(other, bench_.now + 1min);
  }
  // The time at which the first of the claim's answers of these kinds expires; zero without one.
  ServerTime kept_until(const Claim& claim, std::string_view answers) const {
    ServerTime first{};
    for (const char answer : answers) {
      const auto at =
          model_.answers.find(claim.owner + ":" + std::to_string(claim.attempt) + ":" + answer);
      if (at != model_.answers.end() && at->second > bench_.now.us &&
          (first.us == 0 || at->second < first.us))
        first.us = at->second;
    }
    return std::min(first, bench_.now + 10min);
  }
  // Whether the answer is final, also when the lock changes.
  static bool is_counted(const Acquire& a, const Reply& reply) {
    const auto* busy = std::get_if<Busy>(&reply);
    if (busy == nullptr) return false;
    return busy->reason == BusyReason::done || a.if_busy == IfBusy::timed_out ||
           (a.if_busy != IfBusy::wait && !busy->group_granted);
  }
  static bool is_busy(const Reply& reply) { return std::holds_alternative<Busy>(reply); }
  static bool is_counted(const Renew&, const Reply&) { return false; }
  static bool is_counted(const Release&, const Reply& reply) {
    return std::holds_alternative<Released>(reply);
  }
  static bool takes_place(const Reply& reply) {
    const auto* busy = std::get_if<Busy>(&reply);
    return busy != nullptr && busy->ahead && busy->reason == BusyReason::queued;
  }
  // What describes one call only.
  static Reply without_place(Reply reply) {
    if (auto* busy = std::get_if<Busy>(&reply)) {
      busy->ahead.reset();
      busy->wake.clear();
    }
    if (auto* released = std::get_if<Released>(&reply)) released->wake.clear();
    if (auto* lost = std::get_if<NotHolder>(&reply)) lost->wake.clear();
    return reply;
  }
  // `restored` describes one call only.
  static Reply without_restored(Reply reply) {
    if (auto* kept = std::get_if<Renewed>(&reply)) kept->restored = false;
    return reply;
  }

  // R4, on the stored data.
  void expect_marked(const Release& release, ServerTime now) {
    const std::string key =
        bench_.key(release.identity.job.empty() ? ":once" : ":once:" + release.identity.job);
    const std::string date = bench_.client({"ZSCORE", key, release.identity.once}).text;
    ASSERT_FALSE(date.empty()) << release.identity.once << " has no mark";
    EXPECT_GT(std::stoll(date), (now - release.once_ttl).us);
    occurred_["marked"]++;
  }

  void compare_revoke() {
    const Revoked answer = bench_.revoke();
    const Revoked expected = rules::revoke(model_, bench_.now, rules::Expiry::lease, foreign());
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

  const rules::Slot& any_slot() {
    const std::uint64_t at = model_.more.empty() ? 0 : dice_.below(1 + model_.more.size());
    return at == 0 ? model_ : model_.more[at - 1];
  }

  void check() {
    ++requests_.calls;
    Record kept = bench_.last_record();
    if (!bench_.read_sets) {
      kept.groups = model_.groups;
      kept.once = model_.once;
      kept.answers = model_.answers;
      kept.queue = model_.queue;
      kept.asked = model_.asked;
    }
    bench_.read_sets = requests_.calls % 8 == 0;
    if (whole) expect_law(kept);
    if (shared_) check_foreign_key();
    Fence highest = kept.fence;
    for (const rules::Slot& slot : kept.more) highest = std::max(highest, slot.fence);
    EXPECT_GE(highest, highest_) << "the fence fell";
    highest_ = highest;
    expect_same_record(kept, model_);
  }

  const std::optional<SharedKey> shared_;
  rules::ForeignKey foreign_;
  ScriptBench& bench_;
  Dice& dice_;
  Occurred& occurred_;
  TimeOf time_;
  Micros unit_;
  Record model_;
  RandomRequests requests_;
  std::optional<Renew> lost_;  // of the holder whose record was lost, until another request
  struct Saved {
    Record model;
    std::map<std::string, std::string> keys;
    rules::ForeignKey foreign;
  };
  std::optional<Saved> saved_;
  Fence highest_ = 0;
  LiveLeases leases_;
};

// Then a new lock is used: the first calls on a lock differ from later ones.
constexpr std::uint64_t kCallsPerLock = 250;

Occurred walk(std::uint64_t steps, TimeOf time, Micros unit, KeyFormat format = KeyFormat::native,
              unsigned most_slots = 1) {
  const std::uint64_t seed = from_environment("CRONLATCH_SEED", std::random_device{}());
  std::printf("%llu steps with CRONLATCH_SEED=%llu\n", static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(seed));
  Dice dice(seed);
  Occurred occurred;
  ScriptBench bench({}, time);
  const ServerTime start = bench.now;
  for (std::uint64_t done = 0; done < steps && !::testing::Test::HasFailure();) {
    const std::string name = "ns/walk-" + std::to_string(done);
    bench.lock = format == KeyFormat::native ? name : lock_of_shared_key(format, "k:" + name);
    if (time == TimeOf::test) bench.now = start;
    Walk one(bench, dice, occurred, time, unit, most_slots);
    for (std::uint64_t i = 0; i < kCallsPerLock && done < steps; ++i, ++done) {
      one.step();
      if (::testing::Test::HasFailure()) break;
    }
  }
  EXPECT_FALSE(::testing::Test::HasFailure()) << "repeat with CRONLATCH_SEED=" << seed;
  return occurred;
}

// With the repetitions 100,000 calls in a long test, else 20,000 on 60 locks.
std::uint64_t steps_in_virtual_time() {
  return from_environment("CRONLATCH_STEPS", is_long_run() ? 75'000 : 15'000);
}

void expect_occurred(Occurred occurred, std::initializer_list<const char*> answers) {
  for (const char* answer : answers) EXPECT_GT(occurred[answer], 0) << answer << " did not occur";
}

TEST(Property, ScriptsDecideAsTheRulesInVirtualTime) {
  const std::uint64_t steps = steps_in_virtual_time();
  const Occurred occurred = walk(steps, TimeOf::test, 1s);

  expect_occurred(occurred, {"granted",
                             "granted stole",
                             "busy 0",
                             "busy 0 place",
                             "busy 0 group place",
                             "busy 0 group",
                             "busy 1",
                             "busy 1 place",
                             "busy 1 group place",
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
                             "too late",
                             "revoked",
                             "revoked nothing",
                             "lost all",
                             "lost the record",
                             "rolled back",
                             "ended min-hold",
                             "repeated",
                             "marked"});
  if (steps < 50'000) return;  // too few for these
  expect_occurred(occurred, {"busy 3", "busy 3 wakes", "busy 3 place", "busy 3 place wakes",
                             "busy 3 group place", "not holder 1 wakes"});
}

// Each lock has 1 to 4 slots; some requests have another number.
// The reason `queued` is too rare here to be required; contract/store_slots_test.cc tests the
// order.
TEST(Property, ScriptsDecideAsTheRulesWithSeveralSlots) {
  const Occurred occurred = walk(steps_in_virtual_time(), TimeOf::test, 1s, KeyFormat::native, 4);

  expect_occurred(occurred, {"with several slots",
                             "granted",
                             "granted stole",
                             "busy 0",
                             "busy 0 place",
                             "busy 1",
                             "busy 1 place",
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
                             "ended min-hold",
                             "other slots",
                             "repeated"});
}

class SharedKeyProperty : public ::testing::TestWithParam<KeyFormat> {};
INSTANTIATE_TEST_SUITE_P(Of, SharedKeyProperty,
                         ::testing::Values(KeyFormat::cronlock, KeyFormat::redlock),
                         [](const auto& format) { return std::string(name_of(format.param)); });

// Another program changes the key at random.
TEST_P(SharedKeyProperty, ScriptsDecideAsTheRulesWithAKeyOfAnotherProgram) {
  const Occurred occurred =
      walk(from_environment("CRONLATCH_STEPS", 15'000), TimeOf::test, 1s, GetParam());

  expect_occurred(occurred, {"granted", "granted stole", "busy 0", "renewed", "renewed restored",
                             "released", "revoked", "ended min-hold", "lost all", "rolled back",
                             "held by another program", "not holder 1 foreign",
                             "too late closed foreign", "released", "key kept for a min-hold"});
}

TEST(Property, ScriptsDecideAsTheRulesByTheServersClock) {
  const Occurred occurred = walk(3'000, TimeOf::server, 1ms);

  // Rarer answers depend on the pace of this machine; virtual time shows each.
  expect_occurred(occurred, {"granted", "granted stole", "busy 0", "renewed", "not holder 0",
                             "not holder 1", "released", "too late closed", "too late", "revoked",
                             "busy 0 place", "released wakes"});
}

}  // namespace
}  // namespace cronlatch::testing
