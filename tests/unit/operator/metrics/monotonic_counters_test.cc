// SPDX-License-Identifier: Apache-2.0
// Reads of a store that lags, loses data and restarts its counters.
#include "operator/metrics/monotonic_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kStart = 1'763'690'000'000'000;

TimePoint at(Seconds s) { return TimePoint(s); }

LockView lock(Fence fence, std::int64_t acquired, LockState state = LockState::free) {
  LockView view;
  view.lock = "a/b";
  view.fence = fence;
  view.state = state;
  view.identity.job = "a/b";
  view.now = {kStart};
  view.acquired = {static_cast<std::int64_t>(fence)};
  view.jobs["a/b"].values = {{"acquired", acquired},
                             {"released", state == LockState::held ? acquired - 1 : acquired}};
  return view;
}

// The exported view: the kept one, else the one that was read.
const LockView* shown(const LockStatsCopy& copy) {
  if (const auto kept = copy.kept.find("a/b"); kept != copy.kept.end()) return &kept->second;
  return copy.read.empty() ? nullptr : &copy.read.front();
}
std::int64_t acquired(const LockStatsCopy& copy) {
  return shown(copy)->jobs.at("a/b").get("acquired");
}

TEST(MonotonicCounters, ExportsGrowingCountersAsRead) {
  MonotonicCounters marks;
  marks.update({lock(10, 5)}, at(0s));

  EXPECT_EQ(acquired(*marks.update({lock(11, 6)}, at(15s))), 6);
  EXPECT_EQ(marks.resets(), 0U);
}

TEST(MonotonicCounters, KeepsCountersWhileAReplicaLags) {
  MonotonicCounters marks;
  marks.update({lock(11, 6)}, at(0s));

  EXPECT_EQ(acquired(*marks.update({lock(10, 5)}, at(15s))), 6);
  EXPECT_EQ(acquired(*marks.update({lock(10, 5)}, at(30s))), 6);
  EXPECT_EQ(acquired(*marks.update({lock(12, 7)}, at(45s))), 7);
  EXPECT_EQ(marks.resets(), 0U);
}

TEST(MonotonicCounters, KeepsCountersAfterAFlushUntilTheNextGrant) {
  MonotonicCounters marks;
  marks.update({lock(11, 6)}, at(0s));

  EXPECT_EQ(acquired(*marks.update({}, at(15s))), 6);
  EXPECT_EQ(acquired(*marks.update({}, at(30s))), 6);
  EXPECT_EQ(marks.resets(), 0U);
  EXPECT_EQ(acquired(*marks.update({lock(20, 1)}, at(45s))), 1);
  EXPECT_EQ(marks.resets(), 1U);
  EXPECT_EQ(acquired(*marks.update({lock(21, 2)}, at(60s))), 2);
  EXPECT_EQ(marks.resets(), 0U);
}

TEST(MonotonicCounters, KeepsCountersWhenAReplicaHasFlushedData) {
  MonotonicCounters marks;
  marks.update({lock(20, 1)}, at(0s));

  EXPECT_EQ(acquired(*marks.update({lock(11, 6)}, at(15s))), 1);
  EXPECT_EQ(acquired(*marks.update({lock(21, 2)}, at(30s))), 2);
  EXPECT_EQ(marks.resets(), 0U);
}

TEST(MonotonicCounters, ForgetsALockAfterTheRetention) {
  MonotonicCounters marks;
  marks.update({lock(11, 6)}, at(0s));
  marks.update({}, at(15s));

  EXPECT_NE(shown(*marks.update({}, at(23h))), nullptr);
  EXPECT_EQ(shown(*marks.update({}, at(25h))), nullptr);
  EXPECT_EQ(acquired(*marks.update({lock(30, 1)}, at(26h))), 1);
  EXPECT_EQ(marks.resets(), 0U);
}

TEST(MonotonicCounters, DetectsThatTheCountersOfOneJobWereLost) {
  MonotonicCounters marks;
  LockView two = lock(11, 6);
  two.jobs["a/c"].values = {{"skipped_held", 2}};
  marks.update({two}, at(0s));

  const auto copy = marks.update({lock(11, 6)}, at(15s));

  EXPECT_EQ(shown(*copy)->jobs.at("a/c").get("skipped_held"), 2);
}

// A holder restores its record after a flush: the same fence, counters that restarted.
TEST(MonotonicCounters, KeepsCountersWhenOnlyTheRecordWasRestored) {
  MonotonicCounters marks;
  marks.update({lock(11, 6, LockState::held)}, at(0s));
  LockView restored = lock(11, 1, LockState::held);
  restored.jobs["a/b"].values["restored"] = 1;

  const auto copy = marks.update({restored}, at(15s));

  EXPECT_EQ(acquired(*copy), 6);
  EXPECT_EQ(shown(*copy)->state, LockState::held);
  EXPECT_EQ(copy->read.front().jobs.at("a/b").get("restored"), 1);  // for the status page
}

TEST(MonotonicCounters, ExpiresALeaseThatIsNotRenewed) {
  MonotonicCounters marks;
  LockView held = lock(11, 6, LockState::held);
  held.expires = {kStart + 60'000'000};
  marks.update({held}, at(0s));
  LockView other = lock(1, 1);
  other.lock = "x";

  other.now = {kStart + 30'000'000};
  EXPECT_EQ(shown(*marks.update({other}, at(30s)))->state, LockState::held);
  other.now = {kStart + 90'000'000};
  EXPECT_EQ(shown(*marks.update({other}, at(90s)))->state, LockState::expired);
}

TEST(MonotonicCounters, AcceptsTheFirstRead) {
  MonotonicCounters restarted;

  EXPECT_EQ(acquired(*restarted.update({lock(10, 5)}, at(0s))), 5);
}

}  // namespace
}  // namespace cronlatch::op
