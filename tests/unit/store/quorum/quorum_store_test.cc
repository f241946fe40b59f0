// SPDX-License-Identifier: Apache-2.0
// Random schedules of runs on a quorum under virtual time: no two runs hold the lock at the same
// time, and fences rise over all grants (S1, S2). Each defect must be found.
#include "store/quorum/quorum_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulated_quorum.h"
#include "support/long_tests.h"

namespace cronlatch::quorum::testing {
namespace {

constexpr Millis kTtl{6'000};
constexpr Millis kMaxTtl{10'000};
constexpr Millis kLoop{15};  // how often a run that waits for a reply looks for it

// What is true, from the grants that the runs received.
struct Judge {
  int grants = 0;
  Fence highest = 0;
  const void* holder = nullptr;
  TimePoint held_until{};  // the end of the holder's work, at the latest that of its lease
  std::string violation;

  void granted(const void* run, const Granted& grant, TimePoint now) {
    ++grants;
    if (holder != nullptr && holder != run && now < held_until) violation = "S1: two holders";
    if (grant.fence <= highest) violation = "S2: the fence has not risen";
    highest = std::max(highest, grant.fence);
    holder = run;
    held_until = grant.sent_at + kTtl;
  }
  void renewed(const void* run, TimePoint sent_at) {
    if (holder == run) held_until = sent_at + kTtl;
  }
  void ended(const void* run) {
    if (holder == run) holder = nullptr;
  }
};

// One program after the other: requests the lock, works, renews, releases.
class SimulatedRun {
 public:
  SimulatedRun(SimulatedWorld& world, Judge& judge, std::string name)
      : world_(world), judge_(judge), name_(std::move(name)) {
    reset();
  }

  void step() {
    const TimePoint now = world_.now();
    if (is_holding_ && now >= lease_ends_) return reset();  // its command was killed
    std::optional<Reply> reply = store_->step(PollSet{}, now);
    if (reply) {
      is_pending_ = false;
      handle(*reply);
    }
    if (!is_pending_ && now >= next_at_) send();
    schedule();
  }

 private:
  // A new run with an owner of its own. The requests of the previous one can still be executed.
  void reset() {
    judge_.ended(this);
    is_holding_ = is_pending_ = false;
    std::vector<Voter> servers;
    for (std::size_t i = 0; i < world_.servers(); ++i)
      servers.emplace_back("", std::make_unique<SimulatedConnection>(world_, i));
    store_ = std::make_unique<QuorumStore>(std::move(servers), kMaxTtl);
    claim_ = {name_ + "-" + std::to_string(++runs_), 1};
    next_at_ = world_.now() + Millis(world_.below(3'000));
    world_.at(next_at_, [this] { step(); });
  }

  void send() {
    const TimePoint now = world_.now();
    const Identity identity{claim_.owner, "job", "", ""};
    is_pending_ = true;
    if (!is_holding_) {
      store_->send(Acquire{.lock = "lock",
                           .claim = claim_,
                           .identity = identity,
                           .ttl = kTtl,
                           .if_busy = world_.one_in(2) ? IfBusy::wait : IfBusy::skip,
                           .give_up = now + Seconds(3)},
                   now);
    } else if (now >= work_ends_) {
      store_->send(Release{.lock = "lock",
                           .claim = claim_,
                           .identity = identity,
                           .fence = fence_,
                           .verdict = RunVerdict::succeeded,
                           .give_up = now + Seconds(1)},
                   now);
      is_holding_ = false;
      judge_.ended(this);
      is_releasing_ = true;
    } else {
      store_->send(Renew{.lock = "lock",
                         .claim = claim_,
                         .identity = identity,
                         .fence = fence_,
                         .ttl = kTtl,
                         .give_up = std::min(lease_ends_, now + Seconds(1))},
                   now);
    }
    step();
  }

  void handle(const Reply& reply) {
    const TimePoint now = world_.now();
    if (std::exchange(is_releasing_, false)) return reset();
    if (const Granted* granted = std::get_if<Granted>(&reply)) {
      lease_ends_ = granted->sent_at + kTtl;
      if (now >= lease_ends_) return reset();
      judge_.granted(this, *granted, now);
      is_holding_ = true;
      fence_ = granted->fence;
      work_ends_ = now + Millis(world_.below(12'000));
      next_at_ = std::min(work_ends_, now + kTtl / 3);
    } else if (const Renewed* renewed = std::get_if<Renewed>(&reply)) {
      lease_ends_ = renewed->sent_at + kTtl;
      judge_.renewed(this, renewed->sent_at);
      next_at_ = std::min(work_ends_, now + kTtl / 3);
    } else if (std::holds_alternative<NotHolder>(reply)) {
      reset();
    } else if (is_holding_) {
      next_at_ = now + Millis(200);  // the renewal is repeated
    } else {
      if (!std::holds_alternative<Unavailable>(reply)) ++claim_.attempt;
      next_at_ = now + Millis(100 + world_.below(1'000));
      if (world_.one_in(4)) reset();  // the run ends without a release
    }
  }

  void schedule() {
    PollSet set;
    store_->watch(set);
    TimePoint next = is_pending_ ? world_.now() + kLoop : next_at_;
    if (set.deadline && is_pending_) next = std::min(next, std::max(*set.deadline, world_.now()));
    if (is_holding_) next = std::min(next, lease_ends_);
    if (next <= world_.now()) next = world_.now() + Micros(100);
    world_.at(next, [this, run = runs_] {
      if (run == runs_) step();
    });
  }

  SimulatedWorld& world_;
  Judge& judge_;
  std::string name_;
  std::unique_ptr<QuorumStore> store_;
  int runs_ = 0;
  Claim claim_;
  bool is_pending_ = false, is_holding_ = false, is_releasing_ = false;
  Fence fence_ = 0;
  TimePoint next_at_{}, lease_ends_{}, work_ends_{};
};

// One server at a time loses its data, and the next one once it counts again.
void lose_data_repeatedly(SimulatedWorld& world) {
  world.at(world.now() + Millis(world.below(8'000)), [&world] {
    world.lose_data(world.below(world.servers()));
    world.at(world.now() + kMaxTtl, [&world] { lose_data_repeatedly(world); });
  });
}

Judge simulate(unsigned seed, Defect defect) {
  SimulatedWorld world(seed, seed % 2 == 0 ? 3 : 5, defect);
  Judge judge;
  std::vector<std::unique_ptr<SimulatedRun>> runs;
  for (int i = 0; i < 4; ++i)
    runs.push_back(std::make_unique<SimulatedRun>(world, judge, std::to_string(i)));
  lose_data_repeatedly(world);
  const TimePoint end = world.now() + Seconds(90);
  while (judge.violation.empty() && world.run_next(end)) continue;
  return judge;
}

constexpr unsigned kFirstSeed = 1;

TEST(QuorumStore, KeepsItsGuaranteesOverRandomSchedules) {
  const unsigned schedules = cronlatch::testing::is_long_run() ? 2'000 : 150;
  int grants = 0;
  for (unsigned seed = kFirstSeed; seed < kFirstSeed + schedules; ++seed) {
    const Judge judge = simulate(seed, Defect::none);
    ASSERT_EQ(judge.violation, "") << "seed " << seed;
    grants += judge.grants;
  }
  EXPECT_GT(grants, static_cast<int>(schedules)) << "the runs must make progress";
}

// Refuses every acquire at once, and never answers another request.
class RefusingServer : public Backend {
 public:
  void send(const Request& request, TimePoint) override {
    is_acquire_ = std::holds_alternative<Acquire>(request);
  }
  void watch(PollSet&) const override {}
  std::optional<Reply> step(const PollSet&, TimePoint) override {
    if (!std::exchange(is_acquire_, false)) return std::nullopt;
    return Busy{.holder = "another"};
  }
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override { return unused(); }
  Result<LockView> show(const std::string&, TimePoint) override { return unused(); }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return unused(); }

 private:
  static Error unused() { return {Code::bug, "not used"}; }
  bool is_acquire_ = false;
};

TEST(QuorumStore, ReportsAReleaseWithoutAnAnswerAsUnavailableAlsoAfterARefusal) {
  std::vector<Voter> servers;
  for (int i = 0; i < 3; ++i) servers.emplace_back("", std::make_unique<RefusingServer>());
  QuorumStore store(std::move(servers), kMaxTtl);
  TimePoint now{Seconds(1)};
  store.send(
      Acquire{.lock = "lock", .claim = {"aa", 1}, .identity = {}, .give_up = now + Seconds(3)},
      now);
  const auto refused = store.step(PollSet{}, now);
  ASSERT_TRUE(refused && std::holds_alternative<Busy>(*refused));
  // when
  store.send(
      Release{.lock = "lock", .claim = {"aa", 1}, .identity = {}, .give_up = now + Seconds(1)},
      now);
  EXPECT_FALSE(store.step(PollSet{}, now));
  now += Seconds(1);
  const auto released = store.step(PollSet{}, now);
  // then
  EXPECT_TRUE(released && std::holds_alternative<Unavailable>(*released));
}

// Answers no acquire, and a release after `delay`; none: as a server that refuses connections.
class SlowServer : public Backend {
 public:
  explicit SlowServer(std::optional<Millis> delay) : delay_(delay) {}
  void send(const Request& request, TimePoint now) override {
    if (std::holds_alternative<Release>(request)) released_at_ = now + delay_.value_or(Millis(0));
  }
  void watch(PollSet&) const override {}
  std::optional<Reply> step(const PollSet&, TimePoint now) override {
    if (!released_at_ || now < *released_at_) return std::nullopt;
    released_at_.reset();
    if (delay_) return Released{};
    return Unavailable{{Code::unreachable, "refused"}, true, true};
  }
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override { return unused(); }
  Result<LockView> show(const std::string&, TimePoint) override { return unused(); }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return unused(); }

 private:
  static Error unused() { return {Code::bug, "not used"}; }
  std::optional<Millis> delay_;
  std::optional<TimePoint> released_at_;
};

// The run ends after the reply, and what the last server has not received yet is never sent.
TEST(QuorumStore, ReleasesOnTheServersThatAnswerAlsoWithoutAMajority) {
  std::vector<Voter> servers;
  servers.emplace_back("", std::make_unique<SlowServer>(std::nullopt));
  servers.emplace_back("", std::make_unique<SlowServer>(std::nullopt));
  servers.emplace_back("", std::make_unique<SlowServer>(Millis(50)));
  QuorumStore store(std::move(servers), kMaxTtl);
  TimePoint now{Seconds(1)};
  store.send(
      Release{.lock = "lock", .claim = {"aa", 1}, .identity = {}, .give_up = now + Seconds(1)},
      now);
  // when
  EXPECT_FALSE(store.step(PollSet{}, now)) << "the third server has not answered";
  now += Millis(50);
  const auto released = store.step(PollSet{}, now);
  // then
  ASSERT_TRUE(released && std::holds_alternative<Unavailable>(*released));
  EXPECT_THAT(std::get<Unavailable>(*released).error.message,
              ::testing::HasSubstr("needs 2; 2 did not execute the request"));
}

// Grants every acquire, and answers each renewal as a server that has lost the grant.
class ForgetfulServer : public Backend {
 public:
  explicit ForgetfulServer(bool forgets) : forgets_(forgets) {}
  void send(const Request& request, TimePoint) override {
    if (std::holds_alternative<Acquire>(request)) reply_ = Granted{.fence = 7};
    if (std::holds_alternative<Renew>(request)) reply_ = Renewed{.restored = forgets_};
  }
  void watch(PollSet&) const override {}
  std::optional<Reply> step(const PollSet&, TimePoint) override {
    return std::exchange(reply_, std::nullopt);
  }
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override { return unused(); }
  Result<LockView> show(const std::string&, TimePoint) override { return unused(); }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return unused(); }

 private:
  static Error unused() { return {Code::bug, "not used"}; }
  bool forgets_;
  std::optional<Reply> reply_;
};

std::optional<Reply> acquire_from(std::size_t servers, std::size_t forgetful) {
  std::vector<Voter> voters;
  for (std::size_t i = 0; i < servers; ++i)
    voters.emplace_back("", std::make_unique<ForgetfulServer>(i < forgetful));
  QuorumStore store(std::move(voters), kMaxTtl);
  TimePoint now{Seconds(1)};
  store.send(Acquire{.lock = "lock",
                     .claim = {"aa", 1},
                     .identity = {},
                     .ttl = kTtl,
                     .give_up = now + Seconds(3)},
             now);
  for (int i = 0; i < 200; ++i, now += kLoop)
    if (auto reply = store.step(PollSet{}, now)) return reply;
  return std::nullopt;
}

// A server that restored the record had lost it, and can have granted the lock to another run.
TEST(QuorumStore, DoesNotCountAConfirmationThatRestoredTheRecord) {
  const auto counted = acquire_from(3, /*forgetful=*/1);
  ASSERT_TRUE(counted && std::holds_alternative<Granted>(*counted));
  const auto lost = acquire_from(3, /*forgetful=*/2);
  ASSERT_TRUE(lost && std::holds_alternative<Unavailable>(*lost));
  const Unavailable& failure = std::get<Unavailable>(*lost);
  EXPECT_EQ(failure.error.code, Code::unreachable);
  EXPECT_TRUE(failure.transient);
  EXPECT_FALSE(failure.unsent) << "the grants of the servers must be released";
}

struct Control {
  Defect defect;
  const char* violated;
};
class QuorumControl : public ::testing::TestWithParam<Control> {};

TEST_P(QuorumControl, IsFound) {
  for (unsigned seed = kFirstSeed; seed < kFirstSeed + 3'000; ++seed)
    if (simulate(seed, GetParam().defect).violation.starts_with(GetParam().violated)) return;
  FAIL() << "no schedule violates " << GetParam().violated;
}

INSTANTIATE_TEST_SUITE_P(Defects, QuorumControl,
                         ::testing::Values(Control{Defect::fence_is_not_raised, "S2"},
                                           Control{Defect::counts_restarted_server, "S1"},
                                           Control{Defect::confirms_lost_grant, "S1"}));

}  // namespace
}  // namespace cronlatch::quorum::testing
