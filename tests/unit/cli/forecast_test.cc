// SPDX-License-Identifier: Apache-2.0
// The output of explain: every state of a lock against every way to treat a busy one.
#include "cli/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cronlatch {
namespace {

using testing::HasSubstr;

LockView lock_in(LockState state) {
  LockView view;
  view.lock = "a/b";
  view.state = state;
  view.identity.holder = "web-1:12:boot";
  view.now = {1'763'690'000'000'000};
  view.acquired = view.now - Seconds(60);
  view.expires = view.now + Seconds(60);
  if (state == LockState::cooling) view.closed_slots = {{view.expires, ""}};
  return view;
}

Options busy_is(OnBusy on_busy) {
  Options options;
  options.on_busy = on_busy;
  return options;
}

TEST(Forecast, WaitsForTheEndOfAQuarantine) {
  Options options;
  const Forecast open = forecast(lock_in(LockState::free), options);
  EXPECT_EQ(in_quarantine(open, Micros(0), options).decision, Decision::start);
  EXPECT_EQ(in_quarantine(open, Seconds(60), options).decision, Decision::wait);
  EXPECT_THAT(in_quarantine(open, Seconds(60), options).sentence,
              HasSubstr("the store grants no lock for 1m"));
  options.wait_timeout = Millis(5'000);
  EXPECT_EQ(in_quarantine(open, Seconds(60), options).decision, Decision::refuse);
  EXPECT_EQ(in_quarantine(open, Seconds(60), options).exit_code, 69);
  const Forecast held = forecast(lock_in(LockState::held), options);
  EXPECT_EQ(in_quarantine(held, Seconds(60), options).decision, held.decision);
}

// As in the store: a free lock is granted to the runs that wait.
TEST(Forecast, RunsThatWaitComeFirst) {
  LockView view = lock_in(LockState::free);
  view.waiters = 0;
  Options options = busy_is(OnBusy::skip);
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
  view.waiters = 1;
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("other runs wait for the lock"));
  EXPECT_EQ(forecast(view, busy_is(OnBusy::wait)).decision, Decision::wait);

  options.slots = 3;
  view.slots = 3;
  EXPECT_EQ(forecast(view, options).decision, Decision::start) << "three slots are free";
  view.waiters = 3;
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);

  view = lock_in(LockState::held);
  view.slots = 3;
  view.grants.resize(1);
  view.waiters = 1;
  EXPECT_EQ(forecast(view, options).decision, Decision::start) << "two slots are free";
  view.waiters = 2;
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);

  view = lock_in(LockState::cooling);
  view.closed_slots.front().group = "job-uid";
  view.waiters = 1;
  options = busy_is(OnBusy::skip);
  options.attempt_group = "job-uid";
  EXPECT_EQ(forecast(view, options).decision, Decision::start) << "its own min-hold";
}

TEST(Forecast, AFreeLockStarts) {
  for (const OnBusy on_busy : {OnBusy::skip, OnBusy::wait, OnBusy::fail}) {
    const Forecast f = forecast(lock_in(LockState::free), busy_is(on_busy));

    EXPECT_EQ(f.decision, Decision::start);
    EXPECT_EQ(f.exit_code, 0);
  }
}

TEST(Forecast, AnExpiredLeaseIsTakenOver) {
  const Forecast f = forecast(lock_in(LockState::expired), busy_is(OnBusy::fail));

  EXPECT_EQ(f.decision, Decision::start);
  EXPECT_THAT(f.sentence, HasSubstr("stolen"));
}

TEST(Forecast, ACrashedRunKeepsTheLockClosedByItsMinHoldButNotFromItsGroup) {
  // given
  LockView view = lock_in(LockState::expired);
  view.identity.group = "job-uid";
  view.closed_slots = {{view.now + Seconds(60), "job-uid"}};
  Options options = busy_is(OnBusy::skip);

  // then
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("min-hold"));
  options.attempt_group = "job-uid";
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
}

TEST(Forecast, AHeldLockFollowsOnBusy) {
  for (const LockState state : {LockState::held, LockState::cooling, LockState::revoked}) {
    const LockView view = lock_in(state);

    EXPECT_EQ(forecast(view, busy_is(OnBusy::skip)).decision, Decision::skip);
    EXPECT_EQ(forecast(view, busy_is(OnBusy::wait)).decision, Decision::wait);
    EXPECT_EQ(forecast(view, busy_is(OnBusy::fail)).decision, Decision::fail);
    EXPECT_EQ(forecast(view, busy_is(OnBusy::fail)).exit_code, 75);
  }
}

TEST(Forecast, ALockWithSlotsStartsWhileOneIsFree) {
  // given
  LockView view = lock_in(LockState::held);
  view.slots = 3;
  view.grants.resize(2);
  Options options = busy_is(OnBusy::skip);
  options.slots = 3;

  // then
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("1 of 3 slots"));
  view.grants.resize(3);
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("all 3 slots"));
  view.grants[1].identity.group = options.attempt_group = "job-uid";
  EXPECT_EQ(forecast(view, options).decision, Decision::wait) << "a retry never skips";
  view.grants[1].state = LockState::expired;
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
}

TEST(Forecast, AnotherNumberOfSlotsIsRefusedWhileTheLockIsHeld) {
  LockView view = lock_in(LockState::held);
  view.slots = 3;
  view.grants.resize(1);
  const Options one = busy_is(OnBusy::wait);
  EXPECT_EQ(forecast(view, one).decision, Decision::refuse);
  EXPECT_EQ(forecast(view, one).exit_code, 78);
  EXPECT_THAT(forecast(view, one).sentence, HasSubstr("slots is 1, and the lock has 3"));
  Options two = one;
  two.slots = 2;
  EXPECT_EQ(forecast(lock_in(LockState::held), two).decision, Decision::refuse);
  EXPECT_EQ(forecast(lock_in(LockState::free), two).decision, Decision::start);
}

TEST(Forecast, AMinHoldClosesASlot) {
  // given
  LockView view = lock_in(LockState::held);
  view.slots = 3;
  view.grants.resize(1);
  view.closed_slots = {{view.now + Seconds(60), "job-uid"}};
  Options options = busy_is(OnBusy::skip);
  options.slots = 3;

  // then
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("1 of 3 slots"));
  view.closed_slots.push_back({view.now + Seconds(90), "other-uid"});
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
  EXPECT_THAT(forecast(view, options).sentence,
              HasSubstr("1 of 3 slots are held, and min-hold keeps the others closed until"));
  for (const char* own : {"job-uid", "other-uid"}) {
    options.attempt_group = own;
    EXPECT_EQ(forecast(view, options).decision, Decision::start) << "its own min-hold";
  }
}

TEST(Forecast, AMinHoldOfAllSlotsDoesNotApplyToItsGroup) {
  // given
  LockView view = lock_in(LockState::cooling);
  view.slots = 2;
  view.identity.group = "one";
  view.closed_slots = {{view.now + Seconds(60), "one"}, {view.now + Seconds(90), "two"}};
  Options options = busy_is(OnBusy::skip);
  options.slots = 2;

  // then
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
  for (const char* own : {"one", "two"}) {
    options.attempt_group = own;
    EXPECT_EQ(forecast(view, options).decision, Decision::start) << own;
  }
  // With another number of slots, the min-hold of the other group remains.
  options.store = "redis://h";
  options.slots = 3;
  EXPECT_EQ(forecast(view, options).decision, Decision::refuse);
  view.closed_slots.resize(1);
  options.attempt_group = "one";
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
}

// As the run itself: refused, but a busy lock in a file store.
TEST(Forecast, AMinHoldKeepsTheNumberOfSlots) {
  // given
  LockView one = lock_in(LockState::cooling);
  one.identity.group = "job-uid";
  one.closed_slots = {{one.now + Seconds(60), "job-uid"}};
  LockView two = one;
  two.state = LockState::free;  // the other slot is
  two.slots = 2;
  for (const LockView& view : {one, two}) {
    Options options = busy_is(OnBusy::skip);
    options.slots = static_cast<int>(3 - view.slots);

    // then
    options.store = "redis://h";
    EXPECT_EQ(forecast(view, options).decision, Decision::refuse);
    EXPECT_EQ(forecast(view, options).exit_code, 78);
    options.store = "file:///run/x";
    EXPECT_EQ(forecast(view, options).decision, Decision::skip);
    EXPECT_THAT(forecast(view, options).sentence, HasSubstr("min-hold"));
  }
  Options retry = busy_is(OnBusy::skip);
  retry.store = "redis://h";
  retry.slots = 2;
  retry.attempt_group = "job-uid";
  EXPECT_EQ(forecast(one, retry).decision, Decision::start) << "its own min-hold";
  retry.slots = 1;
  EXPECT_EQ(forecast(two, retry).decision, Decision::start) << "its own min-hold";
}

TEST(Forecast, ACertificateIsAwaitedOnlyWithOnStoreDownWait) {
  const Error expired{Code::tls, "the server's certificate has expired"};
  Options options;
  for (const OnStoreDown refuses : {OnStoreDown::fail, OnStoreDown::run}) {
    options.on_store_down = refuses;
    EXPECT_EQ(forecast(expired, options).decision, Decision::refuse);
    EXPECT_EQ(forecast(expired, options).exit_code, 77);
  }
  options.on_store_down = OnStoreDown::wait;
  EXPECT_EQ(forecast(expired, options).decision, Decision::retry);
}

TEST(Forecast, NamesTheHolderAndTheEndOfItsLease) {
  const Forecast f = forecast(lock_in(LockState::held), busy_is(OnBusy::skip));

  EXPECT_THAT(f.sentence, HasSubstr("web-1:12:boot"));
  EXPECT_THAT(f.sentence, HasSubstr("until 2025-11-21T01:54:20Z"));
}

TEST(Forecast, AHolderCannotWriteControlCharactersToATerminal) {
  LockView view = lock_in(LockState::held);
  view.identity.holder = "\x1b[2Jevil";

  const Forecast f = forecast(view, busy_is(OnBusy::skip));

  EXPECT_EQ(f.sentence.find('\x1b'), std::string::npos);
}

TEST(Forecast, ASkipUsesItsExitCodeAndItsCommand) {
  // given
  Options options = busy_is(OnBusy::skip);
  options.exit_skipped = 5;
  options.skip_command = {"stop-sidecar"};

  // when
  const Forecast f = forecast(lock_in(LockState::held), options);

  // then
  EXPECT_EQ(f.exit_code, 5);
  EXPECT_THAT(f.sentence, HasSubstr("skip command"));
}

TEST(Forecast, AWaitContainsItsLimit) {
  Options options = busy_is(OnBusy::wait);
  EXPECT_THAT(forecast(lock_in(LockState::held), options).sentence, HasSubstr("without limit"));
  options.wait_timeout = Millis(300'000);
  EXPECT_THAT(forecast(lock_in(LockState::held), options).sentence, HasSubstr("at most 5m"));
}

TEST(Forecast, ARevokedLeaseThatHasPassedIsFree) {
  LockView view = lock_in(LockState::revoked);
  view.expires = view.now - Seconds(1);

  EXPECT_EQ(forecast(view, busy_is(OnBusy::skip)).decision, Decision::start);
}

TEST(Forecast, MinHoldDoesNotBindTheSameAttemptGroup) {
  // given
  LockView view = lock_in(LockState::cooling);
  view.identity.group = view.closed_slots.front().group = "job-uid";
  Options options = busy_is(OnBusy::skip);
  options.attempt_group = "job-uid";

  // then
  EXPECT_EQ(forecast(view, options).decision, Decision::start);
  options.attempt_group = "another";
  EXPECT_EQ(forecast(view, options).decision, Decision::skip);
}

TEST(Forecast, ARetryOfAGroupThatRanBeforeWaitsInsteadOfSkipping) {
  // given
  LockView view = lock_in(LockState::held);
  view.identity.group = "job-uid";
  Options options = busy_is(OnBusy::skip);
  options.attempt_group = "job-uid";

  // when
  const Forecast f = forecast(view, options);

  // then
  EXPECT_EQ(f.decision, Decision::wait);
  EXPECT_THAT(f.sentence, HasSubstr("at most 4m, then exit 75"));
  options.wait_timeout = Millis(60'000);
  EXPECT_THAT(forecast(view, options).sentence, HasSubstr("at most 1m, then exit 75"));
}

TEST(Forecast, ARunWithoutAGroupIsNoRetryOfAGrantWithoutOne) {
  EXPECT_EQ(forecast(lock_in(LockState::held), busy_is(OnBusy::skip)).decision, Decision::skip);
}

TEST(Forecast, AStoreThatIsDownFollowsOnStoreDown) {
  // given
  const Error down{Code::unreachable, "connection refused", "is it running"};
  Options options;

  // then
  EXPECT_EQ(forecast(down, options).decision, Decision::refuse);
  EXPECT_EQ(forecast(down, options).exit_code, 69);
  EXPECT_THAT(forecast(down, options).sentence, HasSubstr("connection refused (is it running)"));
  options.on_store_down = OnStoreDown::wait;
  EXPECT_EQ(forecast(down, options).decision, Decision::retry);
  options.on_store_down = OnStoreDown::run;
  EXPECT_EQ(forecast(down, options).decision, Decision::ungated);
}

TEST(Forecast, AMissingRightToReadDoesNotPredictARefusedRun) {
  // given: the rights of a run do not contain HGETALL
  const Error denied{Code::acl, "no permissions to run the 'hgetall' command"};
  Options options;

  // then
  for (const char* redis :
       {"redis://h", "rediss://h", "redis+sentinel://h/m", "redis://a,redis://b"}) {
    options.store = redis;
    EXPECT_EQ(forecast(denied, options).decision, Decision::unknown) << redis;
    EXPECT_THAT(forecast(denied, options).sentence, HasSubstr("hgetall")) << redis;
  }
  options.store = "postgres://u@h/d";
  EXPECT_EQ(forecast(denied, options).decision, Decision::refuse);
  EXPECT_EQ(forecast(denied, options).exit_code, 77);
}

TEST(Forecast, ARefusalOfTheStoreIsNeitherRetriedNorIgnored) {
  Options options;
  for (const OnStoreDown way : {OnStoreDown::fail, OnStoreDown::wait, OnStoreDown::run}) {
    options.on_store_down = way;
    EXPECT_EQ(forecast(Error{Code::auth, "wrong password"}, options).decision, Decision::refuse);
    EXPECT_EQ(forecast(Error{Code::auth, "wrong password"}, options).exit_code, 77);
    EXPECT_EQ(forecast(Error{Code::exec_missing, "not found"}, options).exit_code, 127);
  }
}

}  // namespace
}  // namespace cronlatch
