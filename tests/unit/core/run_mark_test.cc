// SPDX-License-Identifier: Apache-2.0
// The mark of a run identity that is done (once-per): a fact about the work, which outlives the
// lease.
#include <csignal>

#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

const Unavailable kDown{{Code::unreachable, "timed out"}, true, false};

RunSpec once_spec() {
  RunSpec spec = spec_with(Millis(30'000));
  spec.identity.once = "nightly@1763690400";
  return spec;
}

// Answers every release with Down until the run gives up; returns when that was.
Millis refuse_releases(RunDriver& d, Millis now) {
  while (!d.finished()) {
    d.on(now, kDown);
    if (d.finished()) break;
    now = std::chrono::ceil<Millis>(*d.run.wake_at() - at({}));
    d.on(now, Tick{});
  }
  return now;
}

TEST(RunMark, IsRequestedAfterExitCodeZero) {
  RunDriver d(once_spec());
  d.up_to_running().on(Millis(1'000), ChildExited{0, true});
  EXPECT_TRUE(d.last_request<Release>()->mark_done);
  d.on(Millis(1'010), Released{});
  EXPECT_FALSE(d.outcome().not_marked);
}

TEST(RunMark, IsNotRequestedAfterAFailureOrAStop) {
  {
    RunDriver d(once_spec());
    d.up_to_running().on(Millis(1'000), ChildExited{1, true});
    EXPECT_FALSE(d.last_request<Release>()->mark_done);
  }
  {
    RunSpec spec = once_spec();
    spec.max_run = Millis(2'000);
    RunDriver d(spec);
    d.up_to_running().tick_until(Millis(2'000)).on(Millis(2'100), ChildExited{0, true});
    EXPECT_FALSE(d.last_request<Release>()->mark_done);
  }
}

TEST(RunMark, IsRetriedForTwoMinutesAndThenReportedAsMissing) {
  RunDriver d(once_spec());
  d.up_to_running().on(Millis(1'000), ChildExited{0, true});
  EXPECT_FALSE(d.logged("mark_delayed"));
  d.on(Millis(4'000), kDown);
  EXPECT_TRUE(d.logged("mark_delayed"));
  const Millis ended = refuse_releases(d, Millis(4'000));
  EXPECT_GE(ended, Millis(119'000));
  EXPECT_LE(ended, Millis(121'000));
  EXPECT_TRUE(d.logged("not_marked"));
  EXPECT_TRUE(d.outcome().not_marked);
  EXPECT_EQ(d.outcome().kind, Kind::ran);
  EXPECT_EQ(exit_code(d.outcome(), 0), 0);
}

TEST(RunMark, IsWrittenByARunWhoseLeaseHasEnded) {
  RunDriver d(once_spec());
  d.up_to_running().on(Millis(1'000), ChildExited{0, true});
  d.on(Millis(4'000), kDown).tick_until(Millis(60'000));
  ASSERT_EQ(d.run.phase(), Phase::releasing);
  d.on(Millis(60'100), NotHolder{LostReason::taken});
  ASSERT_TRUE(d.finished());
  EXPECT_FALSE(d.outcome().not_marked);
  EXPECT_EQ(exit_code(d.outcome(), 0), 0);
}

TEST(RunMark, IsRetriedNoLongerThanTheGracePeriodAfterTerm) {
  RunSpec spec = once_spec();
  spec.grace_period = Millis(20'000);
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{0, true}).on(Millis(5'000), kDown);
  d.on(Millis(5'500), SignalArrived{SIGTERM});
  const Millis ended = refuse_releases(d, Millis(6'500));
  EXPECT_GE(ended, Millis(23'000));
  EXPECT_LE(ended, Millis(24'500));
  EXPECT_TRUE(d.outcome().not_marked);
}

TEST(RunMark, CountsTheGracePeriodFromATermDuringTheCommand) {
  RunSpec spec = once_spec();
  spec.grace_period = Millis(20'000);
  RunDriver d(spec);
  d.up_to_running()
      .on(Millis(1'000), SignalArrived{SIGTERM})
      .on(Millis(11'000), ChildExited{0, true});
  EXPECT_LE(refuse_releases(d, Millis(12'000)), Millis(20'000));
}

TEST(RunMark, ASecondSignalEndsTheRetriesAtOnce) {
  RunDriver d(once_spec());
  d.up_to_running().on(Millis(1'000), ChildExited{0, true}).on(Millis(5'000), kDown);
  d.on(Millis(5'100), SignalArrived{SIGINT}).on(Millis(5'200), SignalArrived{SIGINT});
  EXPECT_LE(refuse_releases(d, Millis(7'000)), Millis(8'000));
}

TEST(RunMark, WithoutAnIdentityTheReleaseIsRetriedForFiveSeconds) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(1'000), ChildExited{0, true});
  EXPECT_LE(refuse_releases(d, Millis(1'000)), Millis(6'500));
  EXPECT_FALSE(d.outcome().not_marked);
}

TEST(RunMark, OfAnUngatedRunIsRetried) {
  RunSpec spec = once_spec();
  spec.on_store_down = OnStoreDown::run;
  spec.connect_timeout = Millis(100);
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(90), kDown).on(Millis(95), ChildStarted{});
  d.on(Millis(200), ChildExited{0, true});
  EXPECT_TRUE(d.last_request<Release>()->mark_done);
  d.on(Millis(3'000), kDown).tick_until(Millis(60'000));
  EXPECT_FALSE(d.finished());
  d.on(Millis(60'000), NotHolder{});
  EXPECT_FALSE(d.outcome().not_marked);
}

TEST(RunMark, IsRequestedWhenTheLeaseIsLostDuringBackgroundProcesses) {
  RunDriver d(once_spec());
  d.up_to_running().on(Millis(1'000), ChildExited{0, false}).on(Millis(2'000), NotHolder{});
  d.on(Millis(2'100), TreeEmpty{});
  EXPECT_TRUE(d.last_request<Release>()->mark_done);
}

// leftovers=wait: they are part of the work.
TEST(RunMark, IsNotWrittenWhenBackgroundProcessesThatCountAreStopped) {
  RunSpec spec = once_spec();
  spec.leftovers = Leftovers::wait;
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{0, false}).on(Millis(2'000), NotHolder{});
  d.on(Millis(2'100), TreeEmpty{});
  EXPECT_FALSE(d.last_request<Release>()->mark_done);
}

}  // namespace
}  // namespace cronlatch::testing
