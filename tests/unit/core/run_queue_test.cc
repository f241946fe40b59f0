// SPDX-License-Identifier: Apache-2.0
// A run with a place in the queue of its lock.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

Busy place(std::uint32_t ahead, Millis remaining = Millis(60'000)) {
  return Busy{.reason = BusyReason::held,
              .holder = "web-1",
              .job = "",
              .fence = 5,
              .held_for = Seconds(3),
              .remaining = remaining,
              .ahead = ahead};
}

RunSpec waiting_spec(std::uint64_t seed = 0) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  spec.seed = seed;
  return spec;
}

Millis wake(const RunDriver& d) { return std::chrono::ceil<Millis>(*d.run.wake_at() - at({})); }

std::string message(const RunDriver& d) {
  const auto lines = d.actions<LogLine>();
  return lines.empty() ? "" : lines[0].message;
}

TEST(RunQueue, L2TheFirstRunPausesLessThanASecondAndTheOthersAbout2s) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RunDriver first(waiting_spec(seed)), second(waiting_spec(seed));
    first.on(Millis(0), Begin{}).on(Millis(0), place(0));
    EXPECT_LT(wake(first), Millis(950));
    second.on(Millis(0), Begin{}).on(Millis(0), place(1));
    EXPECT_GE(wake(second), Millis(1'800));
    EXPECT_LE(wake(second), Millis(2'201));
  }
}

TEST(RunQueue, SendsTheNextRequestSoonAfterTheEndOfTheLease) {
  for (const std::uint32_t ahead : {0u, 5u}) {
    RunDriver d(waiting_spec());
    d.on(Millis(0), Begin{}).on(Millis(0), place(ahead, Millis(400)));
    EXPECT_GE(wake(d), Millis(450));
    EXPECT_LE(wake(d), Millis(550));
  }
}

TEST(RunQueue, ListensUntilItsNextRequest) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{}).on(Millis(0), place(3));
  ASSERT_EQ(d.actions<Listen>().size(), 1u);
  EXPECT_EQ(d.actions<Listen>()[0].until, *d.run.wake_at());
  EXPECT_EQ(d.actions<Listen>()[0].lock, "reports/nightly");
  EXPECT_EQ(d.actions<Listen>()[0].owner, waiting_spec().owner);
}

// The holder whose lease ends first changes with each renewal of a holder.
TEST(RunQueue, LogsEachHolderOfSeveralSlotsOnce) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{});
  const auto is_logged = [&](Fence fence, Millis when) {
    Busy busy = place(0);
    busy.fence = fence;
    d.on(when, busy);
    const bool logged = d.logged("waiting");
    d.tick_until(when + Millis(1'000));
    return logged;
  };
  EXPECT_TRUE(is_logged(6, Millis(0)));
  EXPECT_FALSE(is_logged(5, Millis(2'000)));
  EXPECT_FALSE(is_logged(6, Millis(4'000)));
  EXPECT_FALSE(is_logged(5, Millis(6'000)));
  EXPECT_TRUE(is_logged(8, Millis(8'000))) << "a later grant";
  EXPECT_FALSE(is_logged(6, Millis(10'000)));
}

TEST(RunQueue, DoesNotListenWithoutAPlace) {
  RunDriver d(waiting_spec());
  Busy busy = place(0);
  busy.ahead.reset();
  d.on(Millis(0), Begin{}).on(Millis(0), busy);
  EXPECT_EQ(d.run.phase(), Phase::pausing);
  EXPECT_TRUE(d.actions<Listen>().empty());
}

TEST(RunQueue, SendsARequestAtOnceWhenItIsWoken) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{}).on(Millis(0), place(3)).on(Millis(20), Woken{});
  ASSERT_NE(d.last_request<Acquire>(), nullptr);
  EXPECT_EQ(d.last_request<Acquire>()->if_busy, IfBusy::wait);
  d.on(Millis(21), Woken{});
  EXPECT_TRUE(d.last.empty()) << "a request is in flight";
}

TEST(RunQueue, LogsItsPlaceOnceForEachHolder) {
  const std::pair<std::uint32_t, std::string> places[] = {{0, "; this run is next"},
                                                          {1, "; 1 run before this one"},
                                                          {2, "; 2 runs before this one"},
                                                          {100, "; at least 100 runs before"}};
  for (const auto& [ahead, text] : places) {
    RunDriver d(waiting_spec());
    d.on(Millis(0), Begin{}).on(Millis(0), place(ahead));
    EXPECT_NE(message(d).find("held by web-1" + text), std::string::npos) << message(d);
    d.on(wake(d), Tick{}).on(wake(d), place(ahead));
    EXPECT_EQ(message(d), "");
    Busy other = place(ahead);
    other.fence = 6;
    d.on(wake(d), Tick{}).on(wake(d), other);
    EXPECT_NE(message(d), "");
  }
}

TEST(RunQueue, LogsAMinHoldAndNotItsLastHolder) {
  RunDriver d(waiting_spec());
  Busy closed = place(0);
  closed.reason = BusyReason::cooling;
  d.on(Millis(0), Begin{}).on(Millis(0), closed);
  EXPECT_THAT(message(d), ::testing::HasSubstr("which min-hold keeps closed until "));
  EXPECT_THAT(message(d), ::testing::Not(::testing::HasSubstr("held by")));
}

TEST(RunQueue, LogsNoReservationBetweenTwoHolders) {
  RunDriver d(waiting_spec());
  Busy reserved{.reason = BusyReason::queued, .remaining = Seconds(2), .ahead = 1};
  d.on(Millis(0), Begin{}).on(Millis(0), place(1)).on(wake(d), Tick{}).on(wake(d), reserved);
  EXPECT_EQ(message(d), "");
}

TEST(RunQueue, Q7ASignalRemovesThePlaceBeforeTheEnd) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{}).on(Millis(0), place(3)).on(Millis(10), SignalArrived{SIGTERM});
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
  d.on(Millis(12), NotHolder{LostReason::taken});
  ASSERT_TRUE(d.finished());
  EXPECT_EQ(exit_code(d.outcome(), 0), 128 + SIGTERM);
}

TEST(RunQueue, Q7ASignalDuringTheFirstRequestRemovesThePlaceToo) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{}).on(Millis(1), SignalArrived{SIGTERM}).on(Millis(2), place(3));
  ASSERT_NE(d.last_request<Release>(), nullptr);
  EXPECT_EQ(d.last_request<Release>()->verdict, RunVerdict::given_back);
}

TEST(RunQueue, Q7AStoreThatDoesNotAnswerDelaysTheEndByAboutASecond) {
  RunDriver d(waiting_spec());
  d.on(Millis(0), Begin{}).on(Millis(0), place(3)).on(Millis(10), SignalArrived{SIGTERM});
  ASSERT_EQ(d.run.phase(), Phase::releasing);
  d.on(Millis(11), Unavailable{{Code::unreachable, "x"}, true, false});
  Millis now{11};
  while (!d.finished() && now < Millis(3'000)) {
    now = d.run.wake_at() ? wake(d) : now + Millis(100);
    d.on(now, d.run.wake_at() ? Event(Tick{})
                              : Event(Unavailable{{Code::unreachable, "x"}, true, false}));
  }
  EXPECT_TRUE(d.finished());
  EXPECT_LE(now, Millis(1'300)) << "the place ends by itself";
}

TEST(RunQueue, ASkipBecauseOtherRunsWaitIsCountedAsHeldAndSaysWhy) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(0), Busy{.reason = BusyReason::queued});
  ASSERT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::skipped);
  EXPECT_EQ(d.outcome().reason, Reason::held);
  EXPECT_EQ(message(d), "skipped because other runs wait for lock reports/nightly");
}

}  // namespace
}  // namespace cronlatch::testing
