// SPDX-License-Identifier: Apache-2.0
// Run before the command starts.
#include <csignal>

#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

Busy held_by(const std::string& holder, Millis remaining = Millis(60'000)) {
  return Busy{.reason = BusyReason::held,
              .holder = holder,
              .job = "",
              .fence = 5,
              .held_for = Seconds(3),
              .remaining = remaining};
}
Unavailable down(bool unsent = false) {
  return Unavailable{{Code::unreachable, "connection refused"}, true, unsent};
}

TEST(Run, StartsTheCommandOnlyWhenGranted) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{});
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  EXPECT_FALSE(d.launched());
  d.granted(Millis(20));
  EXPECT_TRUE(d.launched());
  EXPECT_EQ(d.actions<Launch>()[0].fence, 7u);
}

TEST(Run, SkipsABusyLockAndLogsItsHolderAndLease) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.wall_minus_boot = Micros(1'763'690'000'000'000) - at(Millis(0)).time_since_epoch();
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held_by("web-1"));
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::skipped);
  EXPECT_EQ(d.outcome().reason, Reason::held);
  EXPECT_EQ(d.outcome().holder, "web-1");
  const LogLine line = d.actions<LogLine>().at(0);
  EXPECT_NE(line.message.find("held by web-1 since 2025-11-21T01:53:17Z"), std::string::npos)
      << line.message;
  EXPECT_NE(line.message.find("lease until 2025-11-21T01:54:20Z"), std::string::npos)
      << line.message;
}

TEST(Run, FailsOnABusyLockWithOnBusyFail) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::fail;
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  EXPECT_EQ(d.last_request<Acquire>()->if_busy, IfBusy::fail);
  d.on(Millis(0), held_by("web-1"));
  EXPECT_EQ(d.outcome().kind, Kind::busy);
}

TEST(Run, WaitsAndRetriesUntilWaitTimeout) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  spec.wait_timeout = Millis(5'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held_by("web-1"));
  EXPECT_EQ(d.run.phase(), Phase::pausing);
  while (d.run.phase() == Phase::pausing) {
    const Millis wake = std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0)));
    ASSERT_LE(wake, Millis(5'001));
    d.on(wake, Tick{});
    const bool last = d.last_request<Acquire>()->if_busy == IfBusy::timed_out;
    EXPECT_EQ(last, wake >= Millis(5'000));
    d.on(wake, held_by("web-1"));
  }
  EXPECT_EQ(d.outcome().kind, Kind::busy);
  EXPECT_EQ(d.outcome().reason, Reason::wait_timeout);
}

TEST(Run, WaitsNoLongerThanTheRemainingLease) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held_by("web-1", Millis(700)));
  EXPECT_GE(*d.run.wake_at(), at(Millis(700)));
  EXPECT_LE(*d.run.wake_at(), at(Millis(800)));
}

TEST(Run, L5WaitsInsteadOfSkippingForAGroupThatWasGrantedBefore) {
  RunDriver d(spec_with(Millis(30'000)));
  Busy b = held_by("other");
  b.group_granted = true;
  d.on(Millis(0), Begin{}).on(Millis(0), b);
  EXPECT_EQ(d.run.phase(), Phase::pausing);
  Millis wake{};
  while (d.run.phase() == Phase::pausing) {
    wake = std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0)));
    d.on(wake, Tick{}).on(wake, b);
  }
  EXPECT_EQ(wake, Millis(60'000));
  EXPECT_EQ(d.outcome().kind, Kind::busy);
  EXPECT_EQ(exit_code(d.outcome(), 0), 75);
}

TEST(Run, SkipsADoneIdentityEvenWhenItMayWait) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), Busy{.reason = BusyReason::done});
  EXPECT_EQ(d.outcome().kind, Kind::skipped);
  EXPECT_EQ(d.outcome().reason, Reason::done);
}

TEST(Run, RunsTheSkipCommandAndReportsButDoesNotReturnItsCode) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.has_skip_command = true;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held_by("web-1"));
  ASSERT_TRUE(d.launched());
  EXPECT_EQ(d.actions<Launch>()[0].program, Program::skip_command);
  d.on(Millis(5), ChildStarted{}).on(Millis(9), ChildExited{3, true});
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::skipped);
  EXPECT_FALSE(d.outcome().child_code.has_value());
}

TEST(Run, S4RetriesWithTheSameAttemptAfterAnUnknownResult) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{});
  const Claim first = d.last_request<Acquire>()->claim;
  d.on(Millis(10), down());
  EXPECT_FALSE(d.launched());
  d.tick_until(Millis(1'300));
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  EXPECT_EQ(d.last_request<Acquire>()->claim, first);
}

TEST(Run, L1StopsRetryingWithinFiveSecondsAndReleasesAPossibleGrant) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{});
  Millis now{0};
  while (d.last_request<Release>() == nullptr) {
    d.on(now, down());
    if (d.run.phase() == Phase::retrying) {
      now = std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0)));
      d.on(now, Tick{});
    }
    ASSERT_LE(now, Millis(5'000));
  }
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
  while (!d.finished()) {
    ASSERT_LE(now, Millis(6'100));
    if (d.run.phase() == Phase::releasing && d.run.wake_at()) {
      now = std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0)));
      d.on(now, Tick{});
    } else {
      d.on(now, down());
    }
  }
  EXPECT_EQ(d.outcome().kind, Kind::store_down);
  EXPECT_EQ(exit_code(d.outcome(), 0), 69);
}

TEST(Run, SendsNoReleaseWhenNothingWasSent) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.connect_timeout = Millis(100);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(90), down(true));
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::store_down);
}

TEST(Run, DoesNotRetryAPermanentError) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(5), Unavailable{{Code::auth, "wrong password"}, false, true});
  EXPECT_EQ(d.outcome().kind, Kind::refused);
  EXPECT_EQ(d.outcome().reason, Reason::auth);
  EXPECT_EQ(exit_code(d.outcome(), 0), 77);
}

TEST(Run, WaitsForTheStoreWithOnStoreDownWaitUntilWaitTimeout) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_store_down = OnStoreDown::wait;
  spec.wait_timeout = Millis(60'000);
  spec.connect_timeout = Millis(1'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  Millis now{0};
  int asked = 0;
  while (!d.finished()) {
    d.on(now, down(true));
    if (d.finished()) break;
    now = std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0)));
    d.on(now, Tick{});
    ++asked;
    ASSERT_LE(now, Millis(62'000));
  }
  EXPECT_GT(asked, 5);
  EXPECT_LT(asked, 40);
  EXPECT_GE(now, Millis(60'000));
  EXPECT_EQ(d.outcome().kind, Kind::store_down);
}

TEST(Run, RunsUngatedOnlyWithOnStoreDownRunAndLogsIt) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_store_down = OnStoreDown::run;
  spec.connect_timeout = Millis(100);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(90), down(true));
  EXPECT_TRUE(d.launched());
  EXPECT_TRUE(d.logged("ungated"));
  d.on(Millis(95), ChildStarted{}).on(Millis(200), ChildExited{4, true});
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::ungated);
  d.on(Millis(210), NotHolder{});
  EXPECT_EQ(d.outcome().reason, Reason::ungated);
  EXPECT_EQ(exit_code(d.outcome(), 0), 4);
}

TEST(Run, ThatWasUngatedReportsThatItIsNotCountedAndNoRelease) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_store_down = OnStoreDown::run;
  spec.connect_timeout = Millis(100);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(90), down(true));
  d.on(Millis(95), ChildStarted{}).on(Millis(200), ChildExited{0, true});
  for (Millis now(210); !d.run.outcome() && now < Millis(60'000); now += Millis(1'000))
    d.on(now, down(true)).tick_until(now + Millis(900));
  ASSERT_TRUE(d.run.outcome());
  std::string message;
  for (const Action& action : d.all)
    if (const LogLine* line = std::get_if<LogLine>(&action))
      if (line->event == "release_failed") message = line->message;
  EXPECT_TRUE(message.starts_with("the run without lock ")) << message;
}

// Its request may have arrived.
TEST(Run, WithoutAReplyReportsThatTheGrantIsNotKnown) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(90), down());
  for (Millis now(100); !d.run.outcome() && now < Millis(60'000); now += Millis(1'000))
    d.on(now, down()).tick_until(now + Millis(900));
  ASSERT_TRUE(d.run.outcome());
  std::string message;
  for (const Action& action : d.all)
    if (const LogLine* line = std::get_if<LogLine>(&action))
      if (line->event == "release_failed") message = line->message;
  EXPECT_TRUE(message.starts_with("whether lock reports/nightly was granted is not known"))
      << message;
}

TEST(Run, RetriesInsteadOfStartingOnALateGrant) {
  RunSpec spec = spec_with(Millis(5'000));
  spec.connect_timeout = Millis(20'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(4'000), Granted{.fence = 7, .sent_at = at(Millis(0))});
  EXPECT_FALSE(d.launched());
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  d.on(Millis(4'010), Granted{.fence = 7, .sent_at = at(Millis(4'000))});
  EXPECT_TRUE(d.launched());
}

// A wrapper that was stopped reads the reply after the window.
TEST(Run, TreatsAGrantThatIsTooLateForItsWindowAsAnUnavailableStore) {
  for (const OnStoreDown down : {OnStoreDown::fail, OnStoreDown::wait, OnStoreDown::run}) {
    RunSpec spec = spec_with(Millis(5'000));
    spec.on_store_down = down;
    RunDriver d(spec);
    d.on(Millis(0), Begin{}).on(Millis(40'000), Granted{.fence = 7, .sent_at = at(Millis(0))});
    EXPECT_EQ(d.last_request<Release>() != nullptr, down == OnStoreDown::fail);
    EXPECT_EQ(d.run.phase() == Phase::retrying, down == OnStoreDown::wait);
    EXPECT_EQ(d.launched(), down == OnStoreDown::run);
  }
}

TEST(Run, TakesANewAttemptNumberWhenTheOldOneIsClosed) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(1), TooLate{.closed = true});
  EXPECT_EQ(d.last_request<Acquire>()->claim.attempt, 2u);
}

TEST(Run, KeepsItsAttemptNumberWhenTheRequestWasOnlyLate) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(1), TooLate{.closed = false}).tick_until(Millis(1'300));
  EXPECT_EQ(d.last_request<Acquire>()->claim.attempt, 1u);
}

class CancelSignals : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Run, CancelSignals, ::testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT));

// connect-timeout can be longer than the grace period, after which SIGKILL leaves no outcome.
TEST_P(CancelSignals, EndTheRunWithinItsGracePeriodWithoutAReply) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.connect_timeout = Millis(60'000);
  spec.grace_period = Millis(20'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(1'000), SignalArrived{GetParam()}).tick_until(Millis(18'500));
  EXPECT_EQ(d.run.phase(), Phase::canceling);
  d.tick_until(Millis(19'500));
  ASSERT_TRUE(d.finished());
  EXPECT_TRUE(d.logged("release_failed"));
  EXPECT_EQ(d.outcome().kind, Kind::interrupted);
  EXPECT_EQ(exit_code(d.outcome(), 0), 128 + GetParam());
  EXPECT_EQ(d.outcome().waited, Millis(19'000));
}

TEST_P(CancelSignals, ReleaseAPendingGrantAndNeverStart) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(1), SignalArrived{GetParam()});
  EXPECT_FALSE(d.finished());
  d.granted(Millis(3));
  EXPECT_FALSE(d.launched());
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->fence, 7u);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
  d.on(Millis(4), Released{});
  EXPECT_EQ(d.outcome().kind, Kind::interrupted);
  EXPECT_EQ(exit_code(d.outcome(), 0), 128 + GetParam());
}

TEST_P(CancelSignals, EndAWaitAtOnce) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(1), held_by("x")).on(Millis(2), SignalArrived{GetParam()});
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(exit_code(d.outcome(), 0), 128 + GetParam());
}

// A busy reply to a run that waits is not recorded, so that a delayed first request could be
// granted after the end of the run (docs/spec, variant BUSY_IS_CERTAIN).
TEST_P(CancelSignals, ReleaseAfterAnUnknownResultAlsoWhenARetryWasBusy) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(10), down()).tick_until(Millis(1'300));
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  d.on(Millis(1'301), held_by("x")).on(Millis(1'302), SignalArrived{GetParam()});
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
  d.on(Millis(1'303), NotHolder{LostReason::taken});
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(exit_code(d.outcome(), 0), 128 + GetParam());
}

TEST_P(CancelSignals, ReleaseAfterAnUnknownResultAlsoWhenTheCanceledRetryIsBusy) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(10), down()).tick_until(Millis(1'300));
  d.on(Millis(1'301), SignalArrived{GetParam()}).on(Millis(1'302), held_by("x"));
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
}

TEST(Run, IgnoresOtherSignalsBeforeTheStart) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{})
      .on(Millis(1), SignalArrived{SIGUSR1})
      .on(Millis(1), SignalArrived{SIGWINCH});
  EXPECT_EQ(d.run.phase(), Phase::acquiring);
  d.granted(Millis(3));
  EXPECT_TRUE(d.launched());
}

TEST(Run, FinishesAtOnceOnASecondSignal) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{})
      .on(Millis(1), SignalArrived{SIGINT})
      .on(Millis(2), SignalArrived{SIGINT});
  EXPECT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::interrupted);
}

}  // namespace
}  // namespace cronlatch::testing
