// SPDX-License-Identifier: Apache-2.0
// The contract every store keeps (core/store.h, core/lock_stats.h), fact by fact, on each of them.
// What only a store with a lease can show is skipped by name on the file store; what only the file
// store can show is in file_store_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "contract/contract.h"
#include "store/file/file_store.h"
#include "store/memory/memory_store.h"
#include "store/open.h"
#include "support/certificates.h"
#include "support/redis_server.h"
#include "unit/store/file/support.h"

namespace cronlatch::testing {
namespace {

// ---- the worlds ----

class MemoryWorld : public World {
 public:
  std::unique_ptr<Backend> open() override { return std::make_unique<MemoryStore>(server_); }
  void pass(Millis time) override { now_ = now_ + time; }

 private:
  ServerTime now_{1'800'000'000'000'000};
  MemoryServer server_{[this] { return now_; }};
};

class FileWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    return std::move(open_file_store(dir_ / "locks", [this] { return now_; })).value();
  }
  bool leased() const override { return false; }
  bool shared() const override { return false; }
  void pass(Millis time) override { now_ = now_ + time; }

 private:
  TempDir dir_;
  ServerTime now_{1'800'000'000'000'000};
};

// A server of its own for each test; its clock is this host's.
class ServerWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    auto opened = open_store(spec_);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return std::move(opened).value();
  }
  void pass(Millis time) override { std::this_thread::sleep_for(time); }

 protected:
  StoreSpec spec_;
};

class RedisPlainWorld : public ServerWorld {
 public:
  RedisPlainWorld() { spec_.url = "redis://127.0.0.1:" + std::to_string(server_->port()); }

 private:
  std::unique_ptr<RedisServer> server_ = RedisServer::start();
};

class RedisTlsWorld : public ServerWorld {
 public:
  RedisTlsWorld() {
    spec_.url = "rediss://127.0.0.1:" + std::to_string(server_->tls_port());
    spec_.tls_ca = certificates().ca();
  }

 private:
  // Making them takes longer than any test.
  static const Certificates& certificates() {
    static const Certificates made;
    return made;
  }
  std::unique_ptr<RedisServer> server_ = RedisServer::start_tls(certificates());
};

template <class T>
WorldKind kind(const char* name) {
  return {name, [] { return std::make_unique<T>(); }};
}

// ---- the suite ----

class StoreContract : public ::testing::TestWithParam<WorldKind> {
 protected:
  Program program(const std::string& owner, const std::string& job = "shop/report") {
    return Program(*world_, "shop/report", owner, job);
  }
  void expect_law(Program& program, bool open) {
    EXPECT_EQ(breach_of_law(program.show(), open), "");
  }

  std::unique_ptr<World> world_ = GetParam().make();
};

#define ONLY_LEASED() \
  if (!world_->leased()) GTEST_SKIP() << "a store without leases has nothing to show here"

Granted granted(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Granted>(*reply)) return std::get<Granted>(*reply);
  ADD_FAILURE() << "not granted, reply " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
Busy busy(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Busy>(*reply)) return std::get<Busy>(*reply);
  ADD_FAILURE() << "not busy, reply " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
bool freed(const std::optional<Reply>& reply) { return reply == Reply(Released{}); }
bool not_ours(const std::optional<Reply>& reply, LostReason reason) {
  return reply == Reply(NotHolder{reason});
}
bool closed(const std::optional<Reply>& reply) { return reply == Reply(TooLate{true}); }
// Late: stale, or certainly not executed, or no answer at all.
bool refused_as_late(const std::optional<Reply>& reply) {
  if (!reply || *reply == Reply(TooLate{false})) return true;
  const auto* down = std::get_if<Unavailable>(&*reply);
  return down != nullptr && down->unsent;
}
// What a view says apart from when it was read.
LockView timeless(LockView view) {
  view.now = {};
  return view;
}
void expect_same(const LockView& before, const LockView& after) {
  const LockView a = timeless(before), b = timeless(after);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.fence, b.fence);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.acquired, b.acquired);
  EXPECT_EQ(a.expires, b.expires);
  EXPECT_EQ(a.jobs, b.jobs);
}

// ---- acquire ----

TEST_P(StoreContract, GrantsAFreeLock) {
  auto one = program("1");
  const TimePoint before = boot_now();
  const Granted got = granted(one(one.acquire()));
  EXPECT_GT(got.fence, 0u);
  EXPECT_EQ(got.leased, world_->leased());
  EXPECT_FALSE(got.stole);
  EXPECT_GE(got.sent_at, before);
  EXPECT_LE(got.sent_at, boot_now());
  expect_law(one, true);
}

TEST_P(StoreContract, ShowsWhoWasGranted) {
  auto one = program("1");
  one.identity().group = "job-uid";
  one.identity().once = "tick-1";
  const Granted got = granted(one(one.acquire()));

  const LockView view = one.show();
  EXPECT_EQ(view.lock, one.lock());
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_TRUE(view.open());
  EXPECT_EQ(view.identity, one.identity());
  EXPECT_EQ(view.fence, got.fence);
  EXPECT_EQ(view.attempt, 1u);
  EXPECT_LE(view.acquired, view.now);
  if (world_->leased()) {
    EXPECT_EQ(view.ttl, Millis(60'000));
    EXPECT_EQ(view.expires - view.acquired, Micros(60'000'000));
  } else {
    EXPECT_EQ(view.expires, ServerTime{});
    EXPECT_EQ(view.pid, getpid());
  }
}

TEST_P(StoreContract, BusyNamesTheHolderSinceAndUntil) {
  auto one = program("1"), two = program("2", "shop/other");
  const Granted got = granted(one(one.acquire()));
  world_->pass(Millis(30));

  const Busy told = busy(two(two.acquire()));
  EXPECT_EQ(told.reason, BusyReason::held);
  EXPECT_EQ(told.holder, one.identity().holder);
  EXPECT_EQ(told.job, "shop/report");
  EXPECT_EQ(told.fence, got.fence);
  EXPECT_GE(told.held_for, Millis(30));
  EXPECT_LT(told.held_for, Millis(30'000));
  EXPECT_FALSE(told.group_granted);
  if (world_->leased()) {
    EXPECT_GT(told.remaining, Millis(30'000));
    EXPECT_LE(told.remaining, Millis(60'000));
  } else {
    EXPECT_EQ(told.remaining, Micros(0));
  }
}

TEST_P(StoreContract, SameClaimAskedAgainGetsTheSameFence) {
  auto one = program("1");
  const Granted first = granted(one(one.acquire()));
  const Granted again = granted(one(one.acquire()));
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_FALSE(again.stole);
  EXPECT_EQ(one.count("acquired"), 1);
}

TEST_P(StoreContract, FenceRisesWithEveryGrant) {
  auto one = program("1");
  Fence last = 0;
  for (int round = 0; round < 5; ++round) {
    const Fence fence = granted(one(one.acquire())).fence;
    EXPECT_GT(fence, last);
    last = fence;
    EXPECT_TRUE(freed(one(one.release(fence))));
    ++one.claim().attempt;
    expect_law(one, false);
  }
}

TEST_P(StoreContract, AReleasedAttemptIsNeverGrantedAgain) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence));
  EXPECT_TRUE(closed(one(one.acquire())));
  ++one.claim().attempt;
  granted(one(one.acquire()));
}

TEST_P(StoreContract, AnEarlierAttemptThanTheGrantedOneIsClosed) {
  auto one = program("1");
  one.claim().attempt = 2;
  granted(one(one.acquire()));
  one.claim().attempt = 1;
  EXPECT_TRUE(closed(one(one.acquire())));
  EXPECT_EQ(one.show().attempt, 2u);
}

TEST_P(StoreContract, AnAttemptGivenBackBeforeItArrivedIsNotGranted) {
  auto one = program("1"), two = program("2");
  granted(two(two.acquire()));
  one(one.release(0, RunVerdict::given_back));
  two(two.release(0));
  EXPECT_TRUE(closed(one(one.acquire())));
}

TEST_P(StoreContract, RefusesMoreThanOneSlot) {
  auto one = program("1");
  Acquire question = one.acquire();
  question.slots = 2;
  const auto reply = one(question);
  ASSERT_TRUE(reply && std::holds_alternative<Unavailable>(*reply));
  EXPECT_EQ(std::get<Unavailable>(*reply).error.code, Code::config);
  EXPECT_FALSE(std::get<Unavailable>(*reply).transient);
}

TEST_P(StoreContract, LocksDoNotTouchEachOther) {
  Program one(*world_, "shop/a", "1"), two(*world_, "shop/b", "2"), three(*world_, "shop/a.b", "3");
  granted(one(one.acquire()));
  granted(two(two.acquire()));
  granted(three(three.acquire()));
  EXPECT_EQ(one.show().identity, one.identity());
  EXPECT_EQ(two.show().identity, two.identity());
}

TEST_P(StoreContract, TakesTheLongestName) {
  Program one(*world_, std::string(100, '/') + std::string(99, '.') + "z", "1"),
      two(*world_, one.lock(), "2");
  granted(one(one.acquire()));
  busy(two(two.acquire()));
  EXPECT_EQ(one.show().lock, one.lock());
}

// ---- release ----

TEST_P(StoreContract, ReleaseFreesTheLockForOthers) {
  auto one = program("1"), two = program("2");
  const Granted first = granted(one(one.acquire()));
  EXPECT_TRUE(freed(one(one.release(first.fence))));
  EXPECT_EQ(one.show().state, LockState::free);
  const Granted second = granted(two(two.acquire()));
  EXPECT_FALSE(second.stole);
  EXPECT_GT(second.fence, first.fence);
}

TEST_P(StoreContract, ReleaseIsIdempotent) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  EXPECT_TRUE(freed(one(one.release(fence))));
  EXPECT_TRUE(freed(one(one.release(fence))));
  granted(two(two.acquire()));
  EXPECT_TRUE(freed(one(one.release(fence))));
  EXPECT_EQ(one.count("released"), 1);
  EXPECT_EQ(one.count("runs_succeeded"), 1);
  EXPECT_EQ(two.show().state, LockState::held);
}

TEST_P(StoreContract, ReleaseByAnotherChangesNothing) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(not_ours(two(two.release(fence)), LostReason::taken));
  expect_same(before, one.show());
}

TEST_P(StoreContract, ReleaseOfAnotherAttemptChangesNothing) {
  auto one = program("1");
  one.claim().attempt = 2;
  const Fence fence = granted(one(one.acquire())).fence;
  one.claim().attempt = 1;
  EXPECT_TRUE(not_ours(one(one.release(fence)), LostReason::taken));
  EXPECT_EQ(one.show().state, LockState::held);
}

// ---- renew ----

TEST_P(StoreContract, RenewByTheHolderIsKept) {
  auto one = program("1");
  const Granted got = granted(one(one.acquire()));
  const LockView before = one.show();
  world_->pass(Millis(20));
  const TimePoint sent_at = boot_now();
  const auto reply = one(one.renew(got.fence));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_GE(std::get<Renewed>(*reply).sent_at, sent_at);
  EXPECT_FALSE(std::get<Renewed>(*reply).restored);
  const LockView after = one.show();
  EXPECT_EQ(after.fence, got.fence);
  EXPECT_EQ(after.acquired, before.acquired);
  EXPECT_TRUE(!world_->leased() || after.expires - before.expires >= Millis(20));
}

TEST_P(StoreContract, RenewByAnotherChangesNothing) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(not_ours(two(two.renew(fence)), LostReason::taken));
  expect_same(before, one.show());
}

TEST_P(StoreContract, RenewAfterReleaseIsNotOurs) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence));
  const auto reply = one(one.renew(fence));
  ASSERT_TRUE(reply && std::holds_alternative<NotHolder>(*reply));
  EXPECT_EQ(one.show().state, LockState::free);
}

TEST_P(StoreContract, RenewNeverShortensALease) {
  ONLY_LEASED();
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  Renew shorter = one.renew(fence);
  shorter.ttl = Millis(5'000);
  one(shorter);
  EXPECT_EQ(one.show().expires, before.expires);
}

TEST_P(StoreContract, RenewRestoresARecordTheStoreLost) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  const Fence fence = 1'700'000'000'000'000;
  const auto reply = one(one.renew(fence));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_TRUE(std::get<Renewed>(*reply).restored);
  EXPECT_EQ(one.show().fence, fence);
  EXPECT_EQ(one.count("restored"), 1);
  expect_law(one, true);
  EXPECT_EQ(busy(two(two.acquire())).fence, fence);
}

TEST_P(StoreContract, RenewOfALostRecordIsGoneWithoutALease) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases restores it";
  auto one = program("1");
  EXPECT_TRUE(not_ours(one(one.renew(1'700'000'000'000'000)), LostReason::gone));
  EXPECT_EQ(one.show().state, LockState::free);
}

TEST_P(StoreContract, RenewRestoresAGrantOverAnOlderRecordThatNoRunHolds) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  const Fence older = granted(one(one.acquire())).fence;
  one(one.release(older));
  const auto reply = two(two.renew(older + 1));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_TRUE(std::get<Renewed>(*reply).restored);
  EXPECT_EQ(two.show().fence, older + 1);
  EXPECT_EQ(two.show().identity, two.identity());
  expect_law(two, true);
}

TEST_P(StoreContract, RenewOverAnExpiredOlderRecordCountsItAsStolen) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  Acquire question = one.acquire();
  question.ttl = Millis(150);
  const Fence older = granted(one(question)).fence;
  world_->pass(Millis(200));
  const auto reply = two(two.renew(older + 1));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_EQ(two.show().jobs["shop/one"].get("stolen"), 1);
  expect_law(two, true);
}

TEST_P(StoreContract, RenewAndReleaseOverAHeldOlderRecordAreGone) {
  auto one = program("1"), two = program("2");
  const Fence older = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(not_ours(two(two.renew(older + 1)), LostReason::gone));
  expect_same(before, one.show());
  EXPECT_TRUE(not_ours(two(two.release(older + 1, RunVerdict::lost)), LostReason::gone));
  EXPECT_EQ(one.show().fence, older);
  EXPECT_EQ(one.show().identity, one.identity());
}

TEST_P(StoreContract, RenewOverAnOlderRecordIsGoneWithoutTheKernelsLock) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases restores it";
  auto one = program("1"), two = program("2");
  const Fence older = granted(one(one.acquire())).fence;
  one(one.release(older));
  const LockView before = one.show();
  EXPECT_TRUE(not_ours(two(two.renew(older + 1)), LostReason::gone));
  expect_same(before, one.show());
}

// ---- leases ----

TEST_P(StoreContract, AnExpiredLeaseIsTakenOverAndCountedOnce) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  Acquire question = one.acquire();
  question.ttl = Millis(150);
  const Granted first = granted(one(question));
  world_->pass(Millis(200));
  EXPECT_EQ(one.show().state, LockState::expired);

  const Granted second = granted(two(two.acquire()));
  EXPECT_TRUE(second.stole);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_TRUE(granted(two(two.acquire())).stole) << "the same question has the same answer";
  EXPECT_EQ(two.show().jobs["shop/one"].get("stolen"), 1);
  EXPECT_EQ(two.show().jobs["shop/two"].get("stolen"), 0);
  expect_law(two, true);
  EXPECT_TRUE(closed(one(one.acquire())));
  EXPECT_TRUE(not_ours(one(one.renew(first.fence)), LostReason::taken));
}

TEST_P(StoreContract, AnExpiredLeaseIsNeverRevived) {
  ONLY_LEASED();
  auto one = program("1");
  Acquire question = one.acquire();
  question.ttl = Millis(150);
  const Fence fence = granted(one(question)).fence;
  world_->pass(Millis(200));
  EXPECT_TRUE(not_ours(one(one.renew(fence)), LostReason::expired));
  EXPECT_TRUE(freed(one(one.release(fence, RunVerdict::lost)))) << "nobody took it over";
  EXPECT_EQ(one.count("stolen"), 0);
  expect_law(one, false);
}

TEST_P(StoreContract, RenewalsKeepALeaseBeyondItsFirstEnd) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  Acquire question = one.acquire();
  question.ttl = Millis(400);
  const Fence fence = granted(one(question)).fence;
  for (int i = 0; i < 3; ++i) {
    world_->pass(Millis(200));
    Renew renewal = one.renew(fence);
    renewal.ttl = Millis(400);
    ASSERT_TRUE(std::holds_alternative<Renewed>(one(renewal).value()));
  }
  busy(two(two.acquire()));
}

// ---- late requests ----

TEST_P(StoreContract, ALateAcquireChangesNothing) {
  auto one = program("1");
  Acquire late = one.acquire();
  late.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(ask(one.backend(), late, Millis(1'000))));
  EXPECT_EQ(one.show().state, LockState::free);
  EXPECT_TRUE(one.show().jobs.empty());
}

TEST_P(StoreContract, ALateRenewOrReleaseChangesNothing) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  Renew renewal = one.renew(fence);
  renewal.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(ask(one.backend(), renewal, Millis(1'000))));
  Release release = one.release(fence);
  release.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(ask(one.backend(), release, Millis(1'000))));
  expect_same(before, one.show());
}

// ---- min-hold ----

TEST_P(StoreContract, MinHoldKeepsAReleasedLockClosed) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  Release release = one.release(fence);
  release.min_hold = Millis(400);
  EXPECT_TRUE(freed(one(release)));
  expect_law(one, false);

  Acquire wait = two.acquire();
  wait.if_busy = IfBusy::wait;
  const Busy told = busy(two(wait));
  EXPECT_EQ(told.reason, BusyReason::cooling);
  EXPECT_GT(told.remaining, Micros(0));
  EXPECT_LE(told.remaining, Millis(400));
  EXPECT_EQ(two.show().state, LockState::cooling);
  world_->pass(Millis(450));
  EXPECT_EQ(two.show().state, LockState::free);
  EXPECT_FALSE(granted(two(two.acquire())).stole);
}

TEST_P(StoreContract, MinHoldIsIgnoredByTheSameGroup) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().group = two.identity().group = "job-uid";
  Release release = one.release(granted(one(one.acquire())).fence, RunVerdict::failed);
  release.min_hold = Millis(60'000);
  one(release);
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::cooling);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldIsOverWhenItHasPassedBeforeTheRelease) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence);
  world_->pass(Millis(150));
  release.min_hold = Millis(100);
  one(release);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldDoesNotApplyToAGrantGivenBack) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence, RunVerdict::given_back);
  release.min_hold = Millis(60'000);
  one(release);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldKeepsALockClosedAfterACrash) {
  auto two = program("2", "shop/two"), three = program("3", "shop/three");
  Fence crashed = 0;
  {
    auto one = program("1", "shop/one");
    Acquire question = one.acquire();
    question.ttl = Millis(100);
    question.min_hold = Millis(600);
    crashed = granted(one(question)).fence;
  }
  if (world_->leased()) world_->pass(Millis(150));
  Acquire wait = two.acquire();
  wait.if_busy = IfBusy::wait;
  const Busy told = busy(two(wait));
  EXPECT_EQ(told.reason, BusyReason::cooling);
  EXPECT_EQ(told.fence, crashed);
  EXPECT_GT(told.remaining, Micros(0));
  EXPECT_LE(told.remaining, Millis(600));
  EXPECT_EQ(two.show().state, LockState::expired);
  EXPECT_TRUE(two.show().open());
  expect_law(two, true);
  world_->pass(Millis(650));
  EXPECT_TRUE(granted(three(three.acquire())).stole);
  EXPECT_EQ(three.show().jobs["shop/one"].get("stolen"), 1);
  expect_law(three, true);
}

TEST_P(StoreContract, RevokingEndsAMinHold) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence);
  release.min_hold = Millis(60'000);
  one(release);
  busy(two(two.acquire()));
  const auto ended = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(ended.ok());
  EXPECT_TRUE(ended->was_cooling);
  EXPECT_FALSE(ended->was_held);
  EXPECT_EQ(ended->holder, one.identity().holder);
  EXPECT_GT(ended->remaining, Millis(30'000));
  EXPECT_LE(ended->remaining, Millis(60'000));
  EXPECT_EQ(one.show().state, LockState::free);
  EXPECT_EQ(one.count("revoked"), 0);
  EXPECT_FALSE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_cooling);
  ++two.claim().attempt;
  granted(two(two.acquire()));
}

TEST_P(StoreContract, RevokingEndsTheMinHoldOfACrashedRunAndClosesItsGrant) {
  auto two = program("2", "shop/two");
  {
    auto one = program("1", "shop/one");
    Acquire question = one.acquire();
    question.ttl = Millis(100);
    question.min_hold = Millis(60'000);
    granted(one(question));
  }
  if (world_->leased()) world_->pass(Millis(150));
  const auto ended = two.backend().revoke(two.lock(), boot_now() + kPatience);
  ASSERT_TRUE(ended.ok());
  EXPECT_TRUE(ended->was_cooling);
  EXPECT_EQ(two.show().state, LockState::free);
  EXPECT_EQ(two.show().jobs["shop/one"].get("revoked"), 1);
  expect_law(two, false);
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  expect_law(two, true);
}

// ---- run identities ----

TEST_P(StoreContract, AFinishedIdentityIsDoneForEveryRunOfItsJob) {
  auto one = program("1"), two = program("2"), other = program("3", "shop/other");
  one.identity().once = two.identity().once = other.identity().once = "tick-1";
  one(one.release(granted(one(one.acquire())).fence));

  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
  EXPECT_EQ(two.show().jobs["shop/report"].get("skipped_done"), 1);
  granted(other(other.acquire()));
}

TEST_P(StoreContract, ADoneIdentityIsDoneAlsoWhileTheLockIsHeld) {
  auto one = program("1"), two = program("2"), holder = program("3");
  one.identity().once = two.identity().once = "tick-1";
  one(one.release(granted(one(one.acquire())).fence));
  granted(holder(holder.acquire()));
  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
}

TEST_P(StoreContract, OnlySuccessFinishesAnIdentity) {
  auto one = program("1");
  one.identity().once = "tick-1";
  for (const RunVerdict verdict : {RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
                                   RunVerdict::cannot_start, RunVerdict::given_back}) {
    one(one.release(granted(one(one.acquire())).fence, verdict));
    ++one.claim().attempt;
  }
  granted(one(one.acquire()));
}

TEST_P(StoreContract, AFinishedIdentityIsForgottenAfterItsTime) {
  auto one = program("1"), two = program("2");
  one.identity().once = two.identity().once = "tick-1";
  Release release = one.release(granted(one(one.acquire())).fence);
  release.once_ttl = Millis(200);
  one(release);
  world_->pass(Millis(250));
  Acquire question = two.acquire();
  question.once_ttl = Millis(200);
  granted(two(question));
}

TEST_P(StoreContract, AMarkIsWrittenWhateverBecameOfTheLease) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().once = three.identity().once = "tick-1";
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence, RunVerdict::failed));
  const Fence newer = granted(two(two.acquire())).fence;
  Release repeated = one.release(fence, RunVerdict::lost);
  repeated.mark_done = true;
  EXPECT_TRUE(freed(one(repeated)));
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::done);

  auto outsider = program("4");
  outsider.identity().once = three.identity().once = "tick-2";
  Release lost = outsider.release(newer - 1, RunVerdict::lost);
  lost.mark_done = true;
  EXPECT_TRUE(not_ours(outsider(lost), LostReason::taken));
  ++three.claim().attempt;
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::done);
  EXPECT_EQ(two.show().state, LockState::held);
}

TEST_P(StoreContract, AGrantWhoseRunIsDoneBeforeItsAnswerWasHeardIsGivenBack) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().once = two.identity().once = "tick-1";
  const Fence fence = granted(one(one.acquire())).fence;
  Release former = two.release(fence - 1, RunVerdict::lost);
  former.mark_done = true;
  two(former);
  EXPECT_EQ(busy(one(one.acquire())).reason, BusyReason::done);
  EXPECT_EQ(busy(one(one.acquire())).reason, BusyReason::done);
  EXPECT_EQ(one.show().state, LockState::free);
  expect_law(one, false);
  EXPECT_FALSE(granted(three(three.acquire())).stole);
}

TEST_P(StoreContract, AnUngatedRunMarksItsIdentityThoughTheLockWasNeverGranted) {
  auto one = program("1"), two = program("2");
  one.identity().once = two.identity().once = "tick-1";
  Release ungated = one.release(0, RunVerdict::ungated);
  ungated.mark_done = true;
  one(ungated);
  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
}

// ---- attempt groups ----

TEST_P(StoreContract, AGroupGrantedBeforeIsToldAndNotCountedAsSkipped) {
  auto one = program("1"), holder = program("2"), retry = program("3"), stranger = program("4");
  one.identity().group = retry.identity().group = "job-uid";
  stranger.identity().group = "other-uid";
  one(one.release(granted(one(one.acquire())).fence, RunVerdict::failed));
  granted(holder(holder.acquire()));

  EXPECT_TRUE(busy(retry(retry.acquire())).group_granted);
  EXPECT_EQ(retry.count("skipped_held"), 0);
  EXPECT_FALSE(busy(stranger(stranger.acquire())).group_granted);
  EXPECT_EQ(retry.count("skipped_held"), 1);
}

TEST_P(StoreContract, ACountedBusyIsRepeatedWithWhatItSaidOfTheGroup) {
  auto one = program("1"), holder = program("2"), retry = program("3");
  one.identity().group = retry.identity().group = "job-uid";
  one(one.release(granted(one(one.acquire())).fence, RunVerdict::failed));
  granted(holder(holder.acquire()));
  Acquire last = retry.acquire();
  last.if_busy = IfBusy::timed_out;
  EXPECT_TRUE(busy(retry(last)).group_granted);
  EXPECT_TRUE(busy(retry(last)).group_granted);
  EXPECT_EQ(retry.count("runs_busy"), 1);
}

TEST_P(StoreContract, AGroupThatRanWithoutALockIsRememberedAsGranted) {
  auto one = program("1"), holder = program("2"), retry = program("3");
  one.identity().group = retry.identity().group = "job-uid";
  one(one.release(0, RunVerdict::ungated));
  granted(holder(holder.acquire()));
  EXPECT_TRUE(busy(retry(retry.acquire())).group_granted);
}

// ---- counters ----

TEST_P(StoreContract, BusyIsCountedAsItWasAskedFor) {
  auto holder = program("1");
  granted(holder(holder.acquire()));
  const std::map<IfBusy, std::map<std::string, std::int64_t>> table = {
      {IfBusy::wait, {}},
      {IfBusy::skip, {{"skipped_held", 1}, {"runs_skipped", 1}}},
      {IfBusy::fail, {{"runs_busy", 1}}},
      {IfBusy::timed_out, {{"wait_timeouts", 1}, {"runs_busy", 1}}}};
  for (const auto& [if_busy, expected] : table) {
    const std::string job = "shop/job-" + std::to_string(static_cast<int>(if_busy));
    auto asker = program("asker-" + std::to_string(static_cast<int>(if_busy)), job);
    Acquire question = asker.acquire();
    question.if_busy = if_busy;
    busy(asker(question));
    busy(asker(question));  // the same question is counted once
    auto counters = asker.show().jobs[job].values;
    EXPECT_EQ(counters.erase("last_skip"), if_busy == IfBusy::skip ? 1u : 0u);
    std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
    EXPECT_THAT(counters, ::testing::ElementsAreArray(expected)) << job;
  }
}

TEST_P(StoreContract, EveryVerdictIsCounted) {
  const std::map<RunVerdict, std::map<std::string, std::int64_t>> table = {
      {RunVerdict::succeeded, {{"runs_succeeded", 1}}},
      {RunVerdict::failed, {{"runs_failed", 1}}},
      {RunVerdict::timed_out, {{"runs_timed_out", 1}}},
      {RunVerdict::lost, {{"lost", 1}, {"runs_lost", 1}}},
      {RunVerdict::cannot_start, {{"runs_cannot_start", 1}}},
      {RunVerdict::given_back, {}},
  };
  for (const auto& [verdict, extra] : table) {
    const std::string name = std::to_string(static_cast<int>(verdict));
    auto one = program("owner-" + name, "shop/job-" + name);
    EXPECT_TRUE(freed(one(one.release(granted(one(one.acquire())).fence, verdict))));
    std::map<std::string, std::int64_t> expected = extra;
    expected["acquired"] = expected["released"] = 1;
    if (verdict != RunVerdict::given_back) {
      expected["hold_1"] = 1;
      expected["hold_ms"] = 1'500;
    }
    auto counters = one.show().jobs["shop/job-" + name].values;
    EXPECT_EQ(counters.erase("last_success"), verdict == RunVerdict::succeeded ? 1u : 0u);
    std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
    EXPECT_THAT(counters, ::testing::ElementsAreArray(expected)) << name;
    expect_law(one, false);
  }
}

TEST_P(StoreContract, AnOverlongRunIsCounted) {
  auto one = program("1");
  Release release = one.release(granted(one(one.acquire())).fence);
  release.overlong = true;
  one(release);
  EXPECT_EQ(one.count("long"), 1);
}

TEST_P(StoreContract, AWaitIsCountedWithItsGrant) {
  auto one = program("1");
  Acquire question = one.acquire();
  question.if_busy = IfBusy::wait;
  question.waited = Millis(2'000);
  granted(one(question));
  EXPECT_EQ(one.count("wait_ms"), 2'000);
  EXPECT_EQ(one.count("wait_2"), 1);
}

TEST_P(StoreContract, ALossIsCountedOnceThoughTheRecordIsAnothers) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  granted(two(two.acquire()));
  one(one.release(5, RunVerdict::lost));
  one(one.release(5, RunVerdict::lost));
  EXPECT_EQ(two.show().jobs["shop/one"].get("lost"), 1);
  EXPECT_EQ(two.show().jobs["shop/one"].get("runs_lost"), 1);
  EXPECT_EQ(two.show().identity, two.identity());
  expect_law(two, true);
}

TEST_P(StoreContract, TheVerdictOfAFormerHolderIsCountedOnce) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  two(two.release(granted(two(two.acquire())).fence));
  ++two.claim().attempt;
  const Fence fence = granted(two(two.acquire())).fence;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(not_ours(one(one.release(fence - 1)), LostReason::taken));
  EXPECT_EQ(two.show().jobs["shop/one"].get("runs_succeeded"), 1);
  EXPECT_GT(two.show().jobs["shop/one"].get("last_success"), 0);
  EXPECT_EQ(two.show().jobs["shop/one"].get("released"), 0);
  expect_law(two, true);
}

TEST_P(StoreContract, AnUngatedRunIsCountedWhoeverHolds) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  granted(two(two.acquire()));
  one(one.release(0, RunVerdict::ungated));
  EXPECT_EQ(two.show().jobs["shop/one"].get("ungated"), 1);
  EXPECT_EQ(two.show().state, LockState::held);
}

// ---- ledger ----

TEST_P(StoreContract, AnUnknownLockIsFreeAndLookingWritesNothing) {
  auto one = program("1");
  const LockView view = one.show("never/seen");
  EXPECT_EQ(view.lock, "never/seen");
  EXPECT_EQ(view.state, LockState::free);
  EXPECT_EQ(view.fence, 0u);
  EXPECT_TRUE(view.jobs.empty());
  const auto listed = one.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok());
  EXPECT_TRUE(listed->empty());
}

TEST_P(StoreContract, ListsLocksByName) {
  std::vector<std::unique_ptr<Program>> programs;
  for (const char* lock : {"b/2", "a", "b/10", "c", "a-b", "a/b"}) {
    programs.push_back(std::make_unique<Program>(*world_, lock, lock));
    granted((*programs.back())(programs.back()->acquire()));
  }
  const auto listed = programs[0]->backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok());
  std::vector<std::string> names;
  for (const LockView& view : *listed) {
    names.push_back(view.lock);
    EXPECT_EQ(view.state, LockState::held) << view.lock;
    EXPECT_EQ(view.identity.holder, "host-of-" + view.lock);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("a", "a-b", "a/b", "b/10", "b/2", "c"));
}

TEST_P(StoreContract, RevokedIsLearntAtTheNextRenewalAndNothingOverlaps) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;

  const auto revoked = two.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok());
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(revoked->holder, one.identity().holder);
  EXPECT_EQ(revoked->fence, fence);
  EXPECT_GT(revoked->remaining, Millis(30'000));
  EXPECT_EQ(one.show().state, LockState::revoked);
  expect_law(one, false);

  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::held);
  EXPECT_TRUE(not_ours(one(one.renew(fence)), LostReason::revoked));
  EXPECT_TRUE(freed(one(one.release(fence, RunVerdict::lost))));
  EXPECT_EQ(one.count("revoked"), 1);
  EXPECT_EQ(one.count("released"), 0);
  ++two.claim().attempt;
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  expect_law(two, true);
}

TEST_P(StoreContract, RevokedTwiceIsCountedOnce) {
  ONLY_LEASED();
  auto one = program("1");
  granted(one(one.acquire()));
  EXPECT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  EXPECT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  EXPECT_EQ(one.count("revoked"), 1);
}

TEST_P(StoreContract, ARevokedLeaseThatRanOutIsNotStolen) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  Acquire question = one.acquire();
  question.ttl = Millis(300);
  granted(one(question));
  ASSERT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  world_->pass(Millis(350));
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  EXPECT_EQ(two.count("stolen"), 0);
  expect_law(two, true);
}

TEST_P(StoreContract, RevokingAHeldLockIsRefusedWithoutALease) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases can revoke";
  auto one = program("1");
  granted(one(one.acquire()));
  const LockView before = one.show();
  const auto revoked = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_FALSE(revoked.ok());
  EXPECT_NE(revoked.error().message.find(std::to_string(getpid())), std::string::npos);
  EXPECT_NE(revoked.error().hint.find("kill " + std::to_string(getpid())), std::string::npos);
  expect_same(before, one.show());
}

TEST_P(StoreContract, RevokingAFreeLockDoesNothing) {
  auto one = program("1");
  const auto unknown = one.backend().revoke("never/seen", boot_now() + kPatience);
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->was_held);
  one(one.release(granted(one(one.acquire())).fence));
  const auto released = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(released.ok());
  EXPECT_FALSE(released->was_held);
  EXPECT_EQ(one.count("revoked"), 0);
}

// ---- what a program hands on ----

TEST_P(StoreContract, SaysWhetherHostsMeetInIt) {
  EXPECT_EQ(world_->open()->shared(), world_->shared());
}

TEST_P(StoreContract, HasAnHeirloomOnlyWhenTheKernelHoldsTheLock) {
  auto one = program("1");
  EXPECT_EQ(one.backend().inherited_fd(), -1);
  const Fence fence = granted(one(one.acquire())).fence;
  EXPECT_EQ(one.backend().inherited_fd() >= 0, !world_->leased());
  one(one.release(fence));
  EXPECT_EQ(one.backend().inherited_fd(), -1);
}

// ---- everything together ----

// Fifty random steps of four programs, against the three things that are always so: one holder,
// rising fences, the law.
TEST_P(StoreContract, HoldsOverRandomSteps) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<Program> programs;
  for (int i = 0; i < 4; ++i)
    programs.push_back(program("owner-" + std::to_string(i), "shop/job-" + std::to_string(i % 2)));
  constexpr std::size_t kNobody = 99;
  std::size_t holder = kNobody;
  Fence last = 0;

  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    const std::size_t identity = random() % programs.size();
    Program& one = programs[identity];
    switch (random() % 4) {
      case 0:
      case 1: {
        Acquire question = one.acquire();
        question.if_busy = static_cast<IfBusy>(random() % 4);
        const std::optional<Reply> reply = one(question);
        ASSERT_TRUE(reply);
        if (const auto* got = std::get_if<Granted>(&*reply)) {
          EXPECT_TRUE(holder == identity ? got->fence == last : got->fence > last);
          EXPECT_TRUE(holder == identity || holder == kNobody) << "two holders";
          holder = identity;
          last = got->fence;
        } else if (const auto* told = std::get_if<Busy>(&*reply)) {
          EXPECT_NE(holder, identity);
          EXPECT_NE(holder, kNobody);
          EXPECT_TRUE(told->fence == 0 || told->fence == last);
          ++one.claim().attempt;
        } else {
          EXPECT_TRUE(closed(reply));
          ++one.claim().attempt;
        }
        break;
      }
      case 2: {
        const std::optional<Reply> reply = one(one.renew(last));
        ASSERT_TRUE(reply);
        EXPECT_EQ(std::holds_alternative<Renewed>(*reply), holder == identity);
        break;
      }
      case 3: {
        const std::optional<Reply> reply =
            one(one.release(last, static_cast<RunVerdict>(random() % 6)));
        ASSERT_TRUE(reply);
        if (holder == identity) {
          EXPECT_TRUE(freed(reply));
          holder = kNobody;
          ++one.claim().attempt;
        }
        break;
      }
    }
    expect_law(one, holder != kNobody);
    EXPECT_EQ(one.show().open(), holder != kNobody);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         ::testing::Values(kind<MemoryWorld>("Memory"), kind<FileWorld>("File"),
                                           kind<RedisPlainWorld>("RedisPlain"),
                                           kind<RedisTlsWorld>("RedisTls")),
                         [](const auto& world) { return world.param.name; });

}  // namespace
}  // namespace cronlatch::testing
