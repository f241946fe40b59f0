// SPDX-License-Identifier: Apache-2.0
// Run while the command lives: renewal, the timeline of a lost lease, limits, signals, the end.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

const Unavailable kDown{{Code::unreachable, "timed out"}, true, false};

// Answers every renewal with Down until `until`; returns when TERM and KILL were sent.
struct Fate {
  std::optional<TimePoint> term, kill;
};
Fate starve(RunDriver& d, Millis until) {
  Fate fate;
  while (d.run.wake_at() && *d.run.wake_at() <= at(until) && d.run.phase() == Phase::running) {
    const TimePoint now = *d.run.wake_at();
    const auto actions = d.run.on(Tick{}, now);
    for (const Action& a : actions) {
      if (const SendSignal* s = std::get_if<SendSignal>(&a)) {
        if (s->signo == SIGTERM && !fate.term) fate.term = now;
        if (s->signo == SIGKILL && !fate.kill) fate.kill = now;
      }
      if (std::holds_alternative<StoreRequest>(a)) d.run.on(kDown, now + Millis(3));
    }
    d.now = now;
  }
  return fate;
}

TEST(Run, SendsItsSlotsWithTheAcquireAndEachRenewal) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.slots = 3;
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  EXPECT_EQ(d.last_request<Acquire>()->slots, 3u);
  d.granted();
  d.on(Millis(0), ChildStarted{});
  d.tick_until(Millis(11'000));
  ASSERT_NE(d.last_request<Renew>(), nullptr);
  EXPECT_EQ(d.last_request<Renew>()->slots, 3u);
}

TEST(Run, RenewsWithinTenPercentOfThePeriod) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RunSpec spec = spec_with(Millis(30'000));
    spec.seed = seed;
    RunDriver d(spec);
    d.up_to_running();
    EXPECT_GE(*d.run.wake_at(), at(Millis(9'000)));
    EXPECT_LE(*d.run.wake_at(), at(Millis(11'000)));
  }
}

TEST(Run, SendsTermAndKillAtTheTimesOfTheTimeline) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running();
  const Fate fate = starve(d, Millis(28'500));
  ASSERT_TRUE(fate.term && fate.kill);
  EXPECT_EQ(*fate.term, at(Millis(18'000)));
  EXPECT_EQ(*fate.kill, at(Millis(28'000)));
}

TEST(Run, KillsALargeTreeEarlierOnceARenewalHasFailed) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(9'000), Tick{}).on(Millis(12'000), kDown);
  ASSERT_FALSE(d.actions<CountTasks>().empty());
  d.on(Millis(12'000), TasksCounted{30'000});
  const Fate fate = starve(d, Millis(28'500));
  ASSERT_TRUE(fate.term && fate.kill);
  EXPECT_EQ(*fate.term, at(Millis(15'200)));
  EXPECT_EQ(*fate.kill, at(Millis(25'200)));
}

TEST(Run, CountsTheLeaseFromTheRequestNotFromTheReply) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{})
      .on(Millis(2'000), Granted{.fence = 7, .sent_at = at(Millis(0))})
      .on(Millis(2'000), ChildStarted{});
  EXPECT_EQ(*starve(d, Millis(28'500)).term, at(Millis(18'000)));
}

TEST(Run, SendsNoRenewalThatEndsAfterItsLease) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running();
  for (int i = 0; i < 1'000 && d.run.wake_at() && *d.run.wake_at() < at(Millis(40'000)); ++i) {
    d.now = *d.run.wake_at();
    d.last = d.run.on(Tick{}, d.now);
    if (const Renew* r = d.last_request<Renew>()) {
      EXPECT_LE(r->give_up, at(Millis(29'000)));
      EXPECT_LT(d.now, at(Millis(29'000)));
      d.run.on(kDown, d.now);
    }
  }
}

TEST(Run, KeepsTheLockAfterALateRenewalButStillStopsTheCommand) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running();
  const Fate fate = starve(d, Millis(18'500));
  ASSERT_TRUE(fate.term);
  ASSERT_FALSE(fate.kill);
  d.on(Millis(18'600), Renewed{.sent_at = at(Millis(18'600))});
  const Fate after = starve(d, Millis(27'999));
  EXPECT_FALSE(after.kill);
  d.tick_until(Millis(28'000));
  EXPECT_TRUE(d.sent_signal(
      SIGKILL, Target::tree));  // TERM + kill-after, though the lease would last longer
}

TEST(Run, KillsTheTreeAtOnceWhenAnotherRunHasTheLock) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(9'900), NotHolder{LostReason::taken});
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(9'910), ChildExited{137, true});
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::lost);
  d.on(Millis(9'920), NotHolder{LostReason::taken});
  EXPECT_EQ(exit_code(d.outcome(), 0), 79);
  EXPECT_EQ(d.outcome().reason, Reason::taken);
}

TEST(Run, SendsTermBeforeKillWhenRevoked) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(10'000), NotHolder{LostReason::revoked});
  EXPECT_TRUE(d.sent_signal(SIGTERM, Target::tree));
  EXPECT_FALSE(d.sent_signal(SIGKILL, Target::tree));
  d.tick_until(Millis(20'000));
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(20'010), ChildExited{137, true}).on(Millis(20'020), Released{});
  EXPECT_EQ(d.outcome().reason, Reason::revoked);
}

// The reason is one word; the hint contains the cause and what prevents it.
TEST(Run, LogsWhyTheLeaseIsLostAndHowToPreventIt) {
  const auto hint_of = [](LostReason reason) {
    RunDriver d(spec_with(Millis(30'000)));
    d.up_to_running().on(Millis(10'000), NotHolder{reason});
    std::string hint;
    for (const LogLine& line : d.actions<LogLine>())
      if (line.event == "lost") hint = line.hint;
    return hint;
  };
  EXPECT_THAT(hint_of(LostReason::revoked), HasSubstr("release --force"));
  EXPECT_THAT(hint_of(LostReason::gone), HasSubstr("appendfsync always"));
  EXPECT_THAT(hint_of(LostReason::taken), HasSubstr("set a longer ttl"));
  EXPECT_THAT(hint_of(LostReason::taken), HasSubstr("wrote its key"));
  EXPECT_THAT(hint_of(LostReason::expired), HasSubstr("set a longer ttl"));
}

TEST(Run, OnLostTermSendsTermAndNoKill) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_lost = OnLost::term;
  RunDriver d(spec);
  d.up_to_running();
  const Fate fate = starve(d, Millis(120'000));
  EXPECT_TRUE(fate.term);
  EXPECT_FALSE(fate.kill);
}

TEST(Run, OnLostWarnOnlyLogsAndReturnsTheCommandsCode) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_lost = OnLost::warn;
  RunDriver d(spec);
  d.up_to_running();
  const Fate fate = starve(d, Millis(120'000));
  EXPECT_FALSE(fate.term);
  d.on(Millis(121'000), ChildExited{0, true});
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::lost);
  d.on(Millis(121'001), NotHolder{});
  EXPECT_EQ(d.outcome().kind, Kind::ran);
  EXPECT_EQ(d.outcome().reason, Reason::expired);
  EXPECT_EQ(exit_code(d.outcome(), 0), 0);
}

TEST(Run, NothingIsRenewedOrTimedForAStoreWithoutLeases) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{})
      .on(Millis(0), Granted{.fence = 7, .sent_at = at(Millis(0)), .leased = false})
      .on(Millis(0), ChildStarted{});
  EXPECT_FALSE(d.run.wake_at().has_value());
}

TEST(Run, MaxRunEndsInTermThenKillThen124) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.max_run = Millis(5'000);
  spec.kill_after = Millis(2'000);
  RunDriver d(spec);
  d.up_to_running().tick_until(Millis(5'000));
  EXPECT_TRUE(d.sent_signal(SIGTERM, Target::tree));
  d.tick_until(Millis(7'000));
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(7'001), ChildExited{137, true}).on(Millis(7'002), Released{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 124);
}

TEST(Run, WarnsOnceAboutALongRun) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.warn_after = Millis(3'000);
  RunDriver d(spec);
  d.up_to_running().tick_until(Millis(3'000));
  EXPECT_TRUE(d.logged("long_run"));
  d.tick_until(Millis(8'000));
  EXPECT_FALSE(d.logged("long_run"));
  d.on(Millis(8'001), ChildExited{0, true});
  EXPECT_TRUE(d.last_request<Release>()->overlong);
}

TEST(Run, ForwardsEverySignalToTheGroup) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running();
  for (int signo = 1; signo <= 64; ++signo) {
    d.on(Millis(1), SignalArrived{signo});
    EXPECT_TRUE(d.sent_signal(signo, Target::group)) << signo;
  }
}

TEST(Run, ChecksTheLeaseBeforeAStoppedCommandContinues) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(60'000), SignalArrived{SIGCONT});
  const auto sent = d.actions<SendSignal>();
  ASSERT_GE(sent.size(), 2u);
  const auto first_of = [&](int signo) {
    for (std::size_t i = 0; i < sent.size(); ++i)
      if (sent[i].signo == signo &&
          sent[i].target == (signo == SIGKILL ? Target::tree : Target::group))
        return i;
    return sent.size();
  };
  EXPECT_LT(first_of(SIGKILL), first_of(SIGCONT));
}

TEST(Run, S5HoldsAndRenewsTheLockWhileALeftoverLives) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(1'000), ChildExited{0, false});
  EXPECT_TRUE(d.sent_signal(SIGTERM, Target::tree));
  EXPECT_EQ(d.last_request<Release>(), nullptr);
  d.tick_until(Millis(10'999));
  EXPECT_EQ(d.last_request<Release>(), nullptr);
  EXPECT_NE(d.last_request<Renew>(), nullptr);
  d.tick_until(Millis(11'000));
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(11'010), Renewed{.sent_at = at(Millis(11'000))}).on(Millis(11'020), TreeEmpty{});
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::succeeded);
}

TEST(Run, S5ReportsAProcessThatSurvivesKill) {
  RunDriver d(spec_with(Millis(30'000), Millis(0)));
  d.up_to_running().on(Millis(1'000), ChildExited{0, false}).tick_until(Millis(1'900));
  EXPECT_FALSE(d.logged("stuck"));
  d.tick_until(Millis(2'200));
  EXPECT_TRUE(d.logged("stuck"));
  EXPECT_EQ(d.last_request<Release>(), nullptr);
}

TEST(Run, LeftoversWaitHoldsUntilTheyEnd) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.leftovers = Leftovers::wait;
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{3, false});
  EXPECT_TRUE(d.actions<SendSignal>().empty());
  d.on(Millis(5'000), TreeEmpty{}).on(Millis(5'001), Released{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 3);
}

TEST(Run, LeftoversWaitThatLosesTheLeaseIsLost) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.leftovers = Leftovers::wait;
  RunDriver d(spec);
  d.up_to_running()
      .on(Millis(1'000), ChildExited{0, false})
      .on(Millis(9'000), NotHolder{LostReason::gone});
  EXPECT_TRUE(d.sent_signal(SIGKILL, Target::tree));
  d.on(Millis(9'010), TreeEmpty{}).on(Millis(9'020), NotHolder{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 79);
  EXPECT_EQ(d.outcome().reason, Reason::gone);
}

TEST(Run, LeftoversLeaveReleasesAtOnce) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.leftovers = Leftovers::leave;
  RunDriver d(spec);
  d.up_to_running().on(Millis(1'000), ChildExited{0, false});
  EXPECT_NE(d.last_request<Release>(), nullptr);
}

TEST(Run, WaitsForTheReplyToARenewalBeforeItReleases) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().tick_until(Millis(11'000));
  ASSERT_NE(d.last_request<Renew>(), nullptr);
  d.on(Millis(11'001), ChildExited{0, true});
  EXPECT_EQ(d.last_request<Release>(), nullptr);
  d.on(Millis(11'002), Renewed{.sent_at = at(Millis(11'000))});
  EXPECT_NE(d.last_request<Release>(), nullptr);
}

TEST(Run, AFailedReleaseIsReportedAndChangesNoExitCode) {
  RunDriver d(spec_with(Millis(30'000)));
  d.up_to_running().on(Millis(1'000), ChildExited{0, true});
  while (!d.finished()) {
    d.on(std::chrono::ceil<Millis>(d.now - at(Millis(0))) + Millis(5), kDown);
    if (d.finished()) break;
    d.on(std::chrono::ceil<Millis>(*d.run.wake_at() - at(Millis(0))), Tick{});
  }
  EXPECT_TRUE(d.logged("release_failed"));
  EXPECT_EQ(exit_code(d.outcome(), 0), 0);
  EXPECT_LE(d.now, at(Millis(6'100)));
}

TEST(Run, ReleasesAGrantWhoseCommandCannotStart) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{})
      .granted()
      .on(Millis(1), CannotStart{{Code::exec_missing, "no-such-thing: not found"}});
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::cannot_start);
  d.on(Millis(2), Released{});
  EXPECT_EQ(exit_code(d.outcome(), 0), 127);
}

}  // namespace
}  // namespace cronlatch::testing
