// SPDX-License-Identifier: Apache-2.0
// The kill time that the guardian needs, and the end of a run whose guardian has ended.
#include <gtest/gtest.h>

#include <csignal>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

// D - kappa for a ttl of 30 s: 30 - 1 - 1 s after the request was sent.
constexpr Millis kKillAfterSend{28'000};

std::vector<std::optional<TimePoint>> kill_times(const RunDriver& run) {
  std::vector<std::optional<TimePoint>> times;
  for (const SetKillTime& set : run.actions<SetKillTime>()) times.push_back(set.at);
  return times;
}

using Times = std::vector<std::optional<TimePoint>>;

TEST(KillTime, IsSetBeforeTheCommandStarts) {
  RunDriver run(spec_with(Millis(30'000)));
  run.on(Millis(0), Begin{});
  // When
  run.granted(Millis(10));
  // Then
  EXPECT_EQ(kill_times(run), Times{at(Millis(10) + kKillAfterSend)});
  EXPECT_TRUE(std::holds_alternative<SetKillTime>(run.last.front()));
}

TEST(KillTime, MovesWithEachRenewal) {
  RunDriver run(spec_with(Millis(30'000)));
  run.up_to_running();
  run.tick_until(Millis(11'500));
  // When
  run.on(Millis(11'600), Renewed{.sent_at = at(Millis(11'500))});
  // Then
  EXPECT_EQ(kill_times(run), Times{at(Millis(11'500) + kKillAfterSend)});
}

TEST(KillTime, MovesForwardForACrowd) {
  RunDriver run(spec_with(Millis(30'000)));
  run.up_to_running();
  // When
  run.on(Millis(1'000), TasksCounted{30'000});
  // Then
  EXPECT_EQ(kill_times(run), Times{at(Millis(29'000) - reap_time(30'000))});
}

TEST(KillTime, IsNotSetWhereNothingIsKilled) {
  for (const OnLost on_lost : {OnLost::warn, OnLost::term}) {
    RunSpec spec = spec_with(Millis(30'000));
    spec.on_lost = on_lost;
    RunDriver run(spec);
    run.up_to_running();
    EXPECT_TRUE(kill_times(run).empty());
  }
  RunDriver run(spec_with(Millis(30'000)));
  run.on(Millis(0), Begin{});
  run.on(Millis(1), Granted{.fence = 7, .sent_at = at(Millis(0)), .leased = false});
  EXPECT_TRUE(kill_times(run).empty()) << "the file store has no lease";
}

TEST(KillTime, EndsWithTheTree) {
  RunDriver run(spec_with(Millis(30'000)));
  run.up_to_running();
  // When
  run.on(Millis(100), ChildExited{0, true});
  // Then
  EXPECT_EQ(kill_times(run), Times{std::nullopt});
}

TEST(GuardianEnds, S5_AndTheTreeIsKilledBeforeTheRelease) {
  RunDriver run(spec_with(Millis(30'000)));
  run.up_to_running();
  // When
  run.on(Millis(100), GuardianEnded{});
  EXPECT_TRUE(run.sent_signal(SIGKILL, Target::tree));
  EXPECT_EQ(run.last_request<Release>(), nullptr);
  run.on(Millis(110), ChildExited{137, false});
  EXPECT_EQ(run.last_request<Release>(), nullptr);
  run.on(Millis(120), TreeEmpty{});
  // Then
  ASSERT_NE(run.last_request<Release>(), nullptr);
  EXPECT_EQ(run.last_request<Release>()->verdict, RunVerdict::lost);
  run.on(Millis(130), Released{});
  ASSERT_TRUE(run.run.outcome());
  EXPECT_EQ(run.run.outcome()->kind, Kind::lost);
  EXPECT_EQ(run.run.outcome()->reason, Reason::guardian);
}

TEST(GuardianEnds, AfterTheCommandAndItsExitCodeIsKept) {
  RunDriver run(spec_with(Millis(30'000)));
  run.up_to_running();
  run.on(Millis(100), ChildExited{3, false});
  // When
  run.on(Millis(110), GuardianEnded{});
  EXPECT_TRUE(run.sent_signal(SIGKILL, Target::tree));
  run.on(Millis(120), TreeEmpty{});
  run.on(Millis(130), Released{});
  // Then
  ASSERT_TRUE(run.run.outcome());
  EXPECT_EQ(run.run.outcome()->kind, Kind::ran);
  EXPECT_EQ(run.run.outcome()->child_code, 3);
}

}  // namespace
}  // namespace cronlatch::testing
