// SPDX-License-Identifier: Apache-2.0
// The window in which the store is tried for one answer (connect-timeout): it starts anew with each
// answer, and no retry begins after it (L1).
#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

const Unavailable kRefused{{Code::unreachable, "connection refused"}, true, true};
const Unavailable kExpired{{Code::tls, "the certificate has expired"}, false, true};

Busy held(bool group_granted = false) {
  return Busy{.reason = BusyReason::held,
              .holder = "web-1",
              .job = "",
              .fence = 5,
              .held_for = Seconds(3),
              .remaining = Seconds(60),
              .group_granted = group_granted};
}

Millis wake(const RunDriver& d) { return std::chrono::ceil<Millis>(*d.run.wake_at() - at({})); }

TEST(RunWindow, RestartsWithEachReplyOfTheStore) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held());
  Millis now{0};
  while (now < Millis(20'000)) {
    now = wake(d);
    d.on(now, Tick{});
    ASSERT_NE(d.last_request<Acquire>(), nullptr);
    EXPECT_EQ(d.last_request<Acquire>()->give_up, at(now) + spec.connect_timeout) << now.count();
    d.on(now, held());
  }
}

TEST(RunWindow, NoRetryBeginsAfterIt) {
  for (const Millis ttl : {Millis(5'000), Millis(30'000), Millis(120'000)})
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      RunSpec spec = spec_with(ttl, Millis(200));
      spec.seed = seed;
      RunDriver d(spec);
      d.on(Millis(0), Begin{}).on(Millis(1), kRefused);
      Millis now{1};
      while (!d.finished()) {
        now = wake(d);
        ASSERT_LE(now, spec.connect_timeout) << "seed " << seed;
        d.on(now, Tick{});
        EXPECT_EQ(d.last_request<Acquire>()->give_up, at(spec.connect_timeout));
        d.on(now, kRefused);
      }
      EXPECT_GE(now, Millis(3'000)) << "gave up early, seed " << seed;
      EXPECT_EQ(exit_code(d.outcome(), 0), 69);
    }
}

TEST(RunWindow, OnStoreDownWaitWaitsForACertificateToBeRenewed) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_store_down = OnStoreDown::wait;
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  Millis now{0};
  while (now < Millis(30'000)) {
    d.on(now, kExpired);
    ASSERT_FALSE(d.finished());
    now = wake(d);
    d.on(now, Tick{});
  }
  d.granted(now);
  EXPECT_TRUE(d.launched());
}

TEST(RunWindow, ACertificateThatIsRefusedEndsTheRunWith77ByDefault) {
  for (const OnStoreDown otherwise : {OnStoreDown::fail, OnStoreDown::run}) {
    RunSpec spec = spec_with(Millis(30'000));
    spec.on_store_down = otherwise;
    RunDriver d(spec);
    d.on(Millis(0), Begin{}).on(Millis(0), kExpired);
    EXPECT_EQ(exit_code(d.outcome(), 0), 77);
  }
}

TEST(RunWindow, AWaitForACertificateThatTakesTooLongNamesTheCertificate) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_store_down = OnStoreDown::wait;
  spec.wait_timeout = Millis(20'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  Millis now{0};
  while (!d.finished()) {
    d.on(now, kExpired);
    if (d.finished()) break;
    now = wake(d);
    d.on(now, Tick{});
  }
  EXPECT_EQ(exit_code(d.outcome(), 0), 69);
  EXPECT_EQ(d.outcome().reason, Reason::tls);
}

// L2: the pauses of a waiting run are short enough for a takeover within a lease and a second.
TEST(RunWindow, L2PausesLessThanASecondBetweenRequests) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RunSpec spec = spec_with(Millis(30'000));
    spec.on_busy = OnBusy::wait;
    spec.seed = seed;
    RunDriver d(spec);
    d.on(Millis(0), Begin{}).on(Millis(0), held());
    EXPECT_LT(wake(d), Millis(950));
  }
}

TEST(RunWindow, L5ALaterReplyDoesNotUndoThatTheGroupWasGranted) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{}).on(Millis(0), held(true));
  const Millis now = wake(d);
  d.on(now, Tick{}).on(now, held(false));
  EXPECT_EQ(d.run.phase(), Phase::pausing);
}

// The repeated answer to the last request of a wait does not contain the group: an exit 0 would
// turn the failed Job into a complete one.
TEST(RunWindow, L5ARetryThatTimedOutEndsWith75ThoughTheRepeatedReplyLacksTheGroup) {
  RunSpec spec = spec_with(Millis(30'000));
  RunDriver d(spec);
  d.on(Millis(0), Begin{}).on(Millis(0), held(true));
  while (d.run.phase() == Phase::pausing) {
    const Millis now = wake(d);
    d.on(now, Tick{});
    if (d.last_request<Acquire>()->if_busy != IfBusy::timed_out) {
      d.on(now, held(true));
      continue;
    }
    d.on(now + Millis(100), Unavailable{{Code::unreachable, "timed out"}, true, false});
    d.on(wake(d), Tick{});
    d.on(wake(d), held(false));
  }
  ASSERT_TRUE(d.finished());
  EXPECT_EQ(d.outcome().kind, Kind::busy);
  EXPECT_EQ(exit_code(d.outcome(), 0), 75);
}

}  // namespace
}  // namespace cronlatch::testing
