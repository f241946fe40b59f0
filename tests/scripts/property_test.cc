// SPDX-License-Identifier: Apache-2.0
// Random calls against a real server and against the rules: every reply and everything that is kept
// must be the same. What the rules themselves may have wrong is judged without them: the law
// acquired = released + stolen + revoked + open holds for each job after every call, the same call
// again has the same answer, and fences never fall. A failure names its seed; CRONLATCH_SEED
// replays it, CRONLATCH_STEPS makes the run longer.
#include <chrono>
#include <cstdlib>
#include <random>

#include "script_bench.h"

namespace cronlatch::testing {
namespace {

using rules::Record;
using rules::Seat;

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
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

// What the run met; a run that never saw an answer has tested nothing about it.
using Met = std::map<std::string, int>;

constexpr const char* kSuffixes[] = {"", ":stats", ":groups", ":seen", ":once", ":once:ns/j"};

class Walk {
 public:
  // `unit`: what a second is in ordinary life; every length is a multiple of it.
  Walk(ScriptBench& bench, Dice& dice, Met& met, TimeOf time, Micros unit)
      : bench_(bench), dice_(dice), met_(met), time_(time), unit_(unit) {}

  void step() {
    if (time_ == TimeOf::test)
      move_time();
    else if (dice_.one_in(6))
      await_expiry();
    lose_data();
    roll_back();
    if (lost_ && dice_.one_in(2)) return compare(*lost_);
    const auto verb = dice_.below(20);
    if (verb < 10) {
      lost_.reset();
      return compare(acquire());
    }
    if (verb < 14) return compare(renew());
    if (verb < 19) return compare(release());
    compare_revoke();
  }
  bool whole = true;  // the law is kept: no part of the record was lost by itself

 private:
  // Lets the server's own clock reach the end of a short lease.
  void await_expiry() {
    if (model_.expires - bench_.now > unit_ * 30) return;
    while (bench_.now < model_.expires) {
      const RedisAnswer time = bench_.client({"TIME"});
      ASSERT_EQ(time.elements.size(), 2u);
      bench_.now.us =
          std::stoll(time.elements[0].text) * 1'000'000 + std::stoll(time.elements[1].text);
    }
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
        if (dice_.one_in(20)) bench_.pass(-unit_ * static_cast<int>(dice_.below(4000)));
        break;
      default:
        bench_.pass(unit_ * static_cast<int>(dice_.below(8)));
        break;
    }
  }

  void lose_data() {
    if (!dice_.one_in(100)) return;
    lost_ = renew();
    lost_->claim = model_.claim;
    lost_->fence = model_.fence;
    std::vector<std::string> gone{"DEL", bench_.key()};
    if (dice_.one_in(2)) {
      for (const char* suffix : kSuffixes) gone.push_back(bench_.key(suffix));
      model_ = {};
      highest_ = 0;
      met_["lost all"]++;
    } else {
      saved_.reset();  // its counters would be younger than its record
      Record left;
      left.jobs = model_.jobs;
      left.groups = model_.groups;
      left.once = model_.once;
      left.seen = model_.seen;
      model_ = left;
      highest_ = 0;
      whole = false;
      met_["lost the record"]++;
    }
    bench_.client(gone);
  }

  // Now and then the server goes back to what it kept some calls ago, as a lagging replica does
  // that is promoted; the holder of the newest grant renews.
  void roll_back() {
    if (time_ != TimeOf::test) return;
    if (!saved_ || dice_.one_in(60)) {
      saved_ = Saved{model_, save()};
      return;
    }
    if (!dice_.one_in(80)) return;
    lost_ = renew();
    lost_->claim = model_.claim;
    lost_->identity = model_.identity;
    lost_->fence = model_.fence;
    model_ = saved_->model;
    restore(saved_->keys);
    highest_ = 0;  // until its holder restores the lost grant, the server does not know of it
    met_["rolled back"]++;
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

  Claim claim() {
    if (model_.seat != Seat::none && dice_.one_in(2)) return model_.claim;
    return {dice_.of({"a", "b", "c", "d"}),
            static_cast<std::uint32_t>(1 + dice_.below(3 + calls_ / 40))};
  }
  Identity identity() {
    return {"pod", dice_.of({"", "ns/j"}), dice_.of({"", "", "g1", "g2"}),
            dice_.of({"", "", "t1", "t2", "t3"})};
  }
  Millis length(Micros d) { return std::chrono::ceil<Millis>(d); }
  Millis ttl() { return length(unit_ * dice_.of({5, 30, 600})); }
  // In the server's own time a key that is dropped by itself would surprise the rules, who do not
  // know of that.
  Millis once_ttl() {
    return time_ == TimeOf::server ? 24h : length(unit_ * dice_.of({0, 40, 4000}));
  }
  // Zero, older than the record's, the record's, or newer (of a grant that the store has lost).
  Fence fence() {
    switch (dice_.below(8)) {
      case 0:
        return 0;
      case 1:
        return 1'700'000'000'000'000;
      case 2:
        return model_.fence + dice_.below(3);
      default:
        return model_.fence;
    }
  }
  Millis min_hold() { return dice_.one_in(2) ? 0ms : length(unit_ * dice_.of({20, 100})); }

  Acquire acquire() {
    Acquire a;
    a.lock = bench_.lock;
    a.claim = claim();
    a.identity = identity();
    a.ttl = ttl();
    a.once_ttl = once_ttl();
    a.if_busy = dice_.of({IfBusy::wait, IfBusy::skip, IfBusy::fail, IfBusy::timed_out});
    a.waited = Millis(dice_.one_in(2) ? 0 : dice_.below(4'000'000));
    a.min_hold = min_hold();
    return a;
  }
  Renew renew() {
    Renew r;
    r.lock = bench_.lock;
    r.claim = claim();
    r.identity = identity();
    r.fence = fence();
    r.ttl = ttl();
    return r;
  }
  Release release() {
    Release r;
    r.lock = bench_.lock;
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

  template <class Verb>
  void compare(const Verb& verb) {
    const Micros spare = dice_.one_in(10) ? dice_.of<Micros>({-1us, 0us, -1s}) : 1min;
    const Reply said = compare(verb, bench_.now + spare);
    if (time_ == TimeOf::test && dice_.one_in(3)) repeat(verb, spare, said);
  }
  template <class Verb>
  Reply compare(const Verb& verb, ServerTime not_after) {
    const redis::Decoded said = bench_.send(verb, not_after);
    const std::int64_t day_before = model_.day;
    const Reply expected = rules::decide(model_, verb, said.now, not_after);
    EXPECT_EQ(said.reply, expected) << "lua " << name(said.reply) << ", rules " << name(expected);
    EXPECT_EQ(said.index, model_.day != day_before);
    met_[name(expected)]++;
    if constexpr (std::is_same_v<Verb, Release>) {
      const bool late = std::holds_alternative<TooLate>(said.reply);
      if (verb.mark_done && !verb.identity.once.empty() && verb.once_ttl > 0ms && !late)
        expect_marked(verb, said.now);
    }
    check();
    return said.reply;
  }

  // A caller that has not heard the answer asks again: what it is told must not differ. An answer
  // that was counted stays when time passes and others ask. (The rules do not judge what the same
  // is.)
  template <class Verb>
  void repeat(const Verb& verb, Micros spare, const Reply& first) {
    const ServerTime began = bench_.now;
    const bool counted = is_counted(verb, first);
    if (counted && dice_.one_in(2))
      others_ask_before(remembered_until(verb.claim, is_busy(first) ? "hcdg" : "r"));
    const Reply again = compare(verb, bench_.now + (counted ? 1min : spare));
    EXPECT_EQ(name(again), name(timeless(first))) << (bench_.now - began).count() << " us later";
    if (const auto* granted = std::get_if<Granted>(&first)) {
      EXPECT_EQ(got<Granted>(again).fence, granted->fence);
    }
    met_["repeated"]++;
  }
  void others_ask_before(ServerTime forgotten) {
    if (forgotten <= bench_.now) return;
    bench_.pass(1us * static_cast<int>(
                          dice_.below(static_cast<std::uint64_t>((forgotten - bench_.now) / 1us))));
    Acquire other = acquire();
    other.claim = {"e", static_cast<std::uint32_t>(1 + calls_)};
    compare(other, bench_.now + 1min);
  }
  // The first of the claim's answers of these kinds to be forgotten; zero when none is remembered.
  ServerTime remembered_until(const Claim& claim, std::string_view answers) const {
    ServerTime first{};
    for (const char answer : answers) {
      const auto at =
          model_.seen.find(claim.owner + ":" + std::to_string(claim.attempt) + ":" + answer);
      if (at != model_.seen.end() && at->second > bench_.now.us &&
          (first.us == 0 || at->second < first.us))
        first.us = at->second;
    }
    return std::min(first, bench_.now + 10min);
  }
  // Whether the answer was given for good, however the lock changes.
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
  // `restored` says what the one call did.
  static Reply timeless(Reply reply) {
    if (auto* kept = std::get_if<Renewed>(&reply)) kept->restored = false;
    return reply;
  }

  // R4 is checked on what the server keeps.
  void expect_marked(const Release& release, ServerTime now) {
    const std::string key =
        bench_.key(release.identity.job.empty() ? ":once" : ":once:" + release.identity.job);
    const std::string date = bench_.client({"ZSCORE", key, release.identity.once}).text;
    ASSERT_FALSE(date.empty()) << release.identity.once << " is not marked as done";
    EXPECT_GT(std::stoll(date), (now - release.once_ttl).us);
    met_["marked"]++;
  }

  void compare_revoke() {
    const Revoked said = bench_.revoke();
    const Revoked expected = rules::revoke(model_, bench_.now);
    EXPECT_EQ(said.was_held, expected.was_held);
    EXPECT_EQ(said.holder, expected.holder);
    EXPECT_EQ(said.fence, expected.fence);
    EXPECT_EQ(said.remaining, expected.remaining);
    EXPECT_EQ(said.was_cooling, expected.was_cooling);
    met_[expected.was_held      ? "revoked"
         : expected.was_cooling ? "ended min-hold"
                                : "revoked nothing"]++;
    check();
  }

  void check() {
    ++calls_;
    Record kept = bench_.last_record();
    if (!bench_.read_sets) {
      kept.groups = model_.groups;
      kept.once = model_.once;
      kept.seen = model_.seen;
    }
    bench_.read_sets = calls_ % 8 == 0;
    if (whole) check_law(kept);
    EXPECT_GE(kept.fence, highest_) << "the fence fell";
    highest_ = kept.fence;
    if (kept == model_) return;
    EXPECT_EQ(kept.seat, model_.seat);
    EXPECT_EQ(kept.claim, model_.claim);
    EXPECT_EQ(kept.identity, model_.identity);
    EXPECT_EQ(kept.expires.us, model_.expires.us);
    EXPECT_EQ(kept.ttl, model_.ttl);
    EXPECT_EQ(kept.acquired.us, model_.acquired.us);
    EXPECT_EQ(kept.min_hold, model_.min_hold);
    for (const auto& [job, counters] : model_.jobs)
      for (const auto& [counter, value] : counters.values) {
        const auto at = kept.jobs.find(job);
        EXPECT_EQ(at == kept.jobs.end() ? -1 : at->second.get(counter), value)
            << counter << '|' << job;
      }
    EXPECT_EQ(kept.seen, model_.seen);
    EXPECT_EQ(kept.groups, model_.groups);
    EXPECT_EQ(kept.once, model_.once);
    EXPECT_TRUE(kept == model_);
  }

  // C1 is checked on what the server keeps, not on the rules' word for it.
  static void check_law(const Record& kept) {
    for (const auto& [job, c] : kept.jobs)
      EXPECT_EQ(c.get("acquired") - c.get("released") - c.get("stolen") - c.get("revoked"),
                kept.seat == Seat::held && kept.identity.job == job ? 1 : 0)
          << "job " << job;
  }

  static std::string name(const Reply& reply) {
    static const std::vector<std::string> names{"granted", "busy",  "kept", "not ours",
                                                "freed",   "stale", "down"};
    std::string said = names[reply.index()];
    if (const auto* busy = std::get_if<Busy>(&reply))
      said += " " + std::to_string(static_cast<int>(busy->reason)) +
              (busy->group_granted ? " group" : "");
    if (const auto* lost = std::get_if<NotHolder>(&reply))
      said += " " + std::to_string(static_cast<int>(lost->reason));
    if (const auto* stale = std::get_if<TooLate>(&reply))
      said += stale->closed ? " closed" : " late";
    if (const auto* granted = std::get_if<Granted>(&reply)) said += granted->stole ? " stole" : "";
    if (const auto* kept = std::get_if<Renewed>(&reply)) said += kept->restored ? " restored" : "";
    if (const auto* down = std::get_if<Unavailable>(&reply)) said += ": " + down->error.message;
    return said;
  }

  ScriptBench& bench_;
  Dice& dice_;
  Met& met_;
  TimeOf time_;
  Micros unit_;
  Record model_;
  std::optional<Renew> lost_;  // of the holder whose record was lost, until another asks
  struct Saved {
    Record model;
    std::map<std::string, std::string> keys;
  };
  std::optional<Saved> saved_;
  Fence highest_ = 0;
  std::uint64_t calls_ = 0;
};

// A new lock every so often: the first calls on a lock are special.
constexpr std::uint64_t kCallsPerLock = 250;

Met walk(std::uint64_t steps, TimeOf time, Micros unit) {
  const std::uint64_t seed = from_environment("CRONLATCH_SEED", std::random_device{}());
  std::printf("%llu steps with CRONLATCH_SEED=%llu\n", static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(seed));
  Dice dice(seed);
  Met met;
  ScriptBench bench({}, time);
  const ServerTime start = bench.now;
  for (std::uint64_t done = 0; done < steps && !::testing::Test::HasFailure();) {
    bench.lock = "ns/walk-" + std::to_string(done);
    if (time == TimeOf::test) bench.now = start;
    Walk one(bench, dice, met, time, unit);
    for (std::uint64_t i = 0; i < kCallsPerLock && done < steps; ++i, ++done) {
      one.step();
      if (::testing::Test::HasFailure()) break;
    }
  }
  EXPECT_FALSE(::testing::Test::HasFailure()) << "replay with CRONLATCH_SEED=" << seed;
  return met;
}

void expect_met(Met met, std::initializer_list<const char*> answers) {
  for (const char* answer : answers) EXPECT_GT(met[answer], 0) << answer << " never happened";
}

TEST(Property, ScriptsSayWhatTheRulesSayInVirtualTime) {
  // With the repetitions, 100,000 calls.
  const Met met = walk(from_environment("CRONLATCH_STEPS", 75'000), TimeOf::test, 1s);

  expect_met(met, {"granted",       "granted stole",   "busy 0",       "busy 0 group",
                   "busy 1",        "busy 1 group",    "busy 2",       "kept",
                   "kept restored", "not ours 0",      "not ours 1",   "not ours 2",
                   "not ours 3",    "freed",           "stale closed", "stale late",
                   "revoked",       "revoked nothing", "lost all",     "lost the record",
                   "rolled back",   "ended min-hold",  "repeated",     "marked"});
}

TEST(Property, ScriptsSayWhatTheRulesSayByTheServersClock) {
  const Met met = walk(3'000, TimeOf::server, 1ms);

  expect_met(met, {"granted", "granted stole", "busy 0", "kept", "not ours 0", "not ours 1",
                   "freed", "stale closed", "stale late", "revoked"});
}

}  // namespace
}  // namespace cronlatch::testing
