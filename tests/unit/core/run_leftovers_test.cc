// SPDX-License-Identifier: Apache-2.0
// The command has exited, its background processes live: limits, signals and the lease still count.
#include <csignal>

#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

RunSpec waiting_spec() {
  RunSpec spec = spec_with(Millis(120'000), Millis(4'000));
  spec.leftovers = Leftovers::wait;
  return spec;
}

// Renewals succeed at once.
void renew_until(RunDriver& d, Millis until) {
  for (int turns = 0; d.run.wake_at() && *d.run.wake_at() < at(until); ++turns) {
    ASSERT_LT(turns, 1'000) << "a deadline that has passed is requested repeatedly";
    const Millis now = std::chrono::ceil<Millis>(*d.run.wake_at() - at({}));
    d.on(now, Tick{});
    if (d.last_request<Renew>()) d.on(now, Renewed{.sent_at = at(now)});
  }
  d.on(until, Tick{});
}

TEST(RunLeftovers, MaxRunStopsBackgroundProcesses) {
  RunSpec spec = waiting_spec();
  spec.max_run = Millis(30'000);
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{0, false});
  renew_until(d, Millis(29'999));
  EXPECT_FALSE(d.sent_signal(SIGTERM, Target::tree));
  renew_until(d, Millis(30'000));
  EXPECT_TRUE(d.sent_signal(SIGTERM, Target::tree));
  renew_until(d, Millis(34'000));
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(34'010), TreeEmpty{}).on(Millis(34'020), Released{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 124);
}

TEST(RunLeftovers, MaxRunKillsACommandAfterOnLostTerm) {
  RunSpec spec = spec_with(Millis(120'000), Millis(4'000));
  spec.on_lost = OnLost::term;
  spec.max_run = Millis(30'000);
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), NotHolder{LostReason::taken});
  EXPECT_TRUE(d.sent_signal(SIGTERM, Target::tree));
  d.tick_until(Millis(33'999));
  for (const Action& a : d.all)
    if (const SendSignal* s = std::get_if<SendSignal>(&a)) {
      EXPECT_NE(s->signo, SIGKILL);
    }
  d.tick_until(Millis(34'000));
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(34'010), ChildExited{137, true}).on(Millis(34'020), NotHolder{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 79);
}

TEST(RunLeftovers, TermReachesAllOfThem) {
  for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    RunDriver d(waiting_spec());
    d.up_to_running().on(Millis(1'000), ChildExited{0, false});
    d.on(Millis(2'000), SignalArrived{signo});
    EXPECT_TRUE(d.sent_signal(signo, Target::tree)) << signo;
  }
}

TEST(RunLeftovers, ALeaseThatIsLostWhileTheyAreStoppedMakesTheRunLost) {
  for (const LostReason reason : {LostReason::taken, LostReason::gone, LostReason::expired}) {
    RunDriver d(spec_with(Millis(30'000)));
    d.up_to_running().on(Millis(1'000), ChildExited{0, false});
    d.on(Millis(2'000), NotHolder{reason});
    EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
    d.on(Millis(2'100), TreeEmpty{});
    EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::lost);
    d.on(Millis(2'110), NotHolder{});
    EXPECT_EQ(exit_code(d.outcome(), 0), 79);
  }
}

TEST(RunLeftovers, ALeaseThatIsRevokedWhileTheyAreStoppedMakesTheRunLost) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(1'000), ChildExited{0, false});
  d.on(Millis(2'000), NotHolder{LostReason::revoked}).on(Millis(2'100), TreeEmpty{});
  d.on(Millis(2'110), Released{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 79);
  EXPECT_EQ(d.outcome().reason, Reason::revoked);
}

TEST(RunLeftovers, OnLostWarnKeepsTheCommandsOwnCode) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_lost = OnLost::warn;
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{3, false});
  d.on(Millis(2'000), NotHolder{}).on(Millis(2'100), TreeEmpty{}).on(Millis(2'110), NotHolder{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 3);
}

}  // namespace
}  // namespace cronlatch::testing
