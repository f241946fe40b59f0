// SPDX-License-Identifier: Apache-2.0
// A quarantine (option strict) is not busy: the run waits, whatever on-busy and on-store-down are.
#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

int launches(const RunDriver& d) {
  int n = 0;
  for (const Action& a : d.all) n += std::holds_alternative<Launch>(a);
  return n;
}
int warnings(const RunDriver& d) {
  int n = 0;
  for (const Action& a : d.all)
    if (const auto* line = std::get_if<LogLine>(&a)) n += line->event == "quarantine";
  return n;
}

TEST(RunQuarantine, WaitsUntilItEndsWhateverThePoliciesAre) {
  for (const OnBusy busy : {OnBusy::skip, OnBusy::wait, OnBusy::fail})
    for (const OnStoreDown down : {OnStoreDown::fail, OnStoreDown::wait, OnStoreDown::run}) {
      RunSpec spec = spec_with(Millis(30'000));
      spec.on_busy = busy;
      spec.on_store_down = down;
      spec.has_skip_command = true;
      RunDriver d(spec);
      d.on(Millis(0), Begin{});
      int requests = 0;
      // Ten minutes, longer than any window of requests.
      Millis when{1};
      for (; when < Millis(600'000); ++requests) {
        d.on(when, Quarantined{Millis(600'000) - when});
        ASSERT_EQ(d.run.phase(), Phase::pausing);
        const TimePoint wake = *d.run.wake_at();
        when = std::chrono::ceil<Millis>(wake - at(Millis(0)));
        d.on(when, Tick{});
        ASSERT_EQ(d.run.phase(), Phase::acquiring);
      }
      EXPECT_LT(requests, 200);
      EXPECT_EQ(launches(d), 0);
      EXPECT_EQ(warnings(d), 1);
      d.granted(when);
      EXPECT_EQ(launches(d), 1);
    }
}

TEST(RunQuarantine, EndsWithStoreDownWhenWaitTimeoutHasPassed) {
  for (const OnStoreDown down : {OnStoreDown::fail, OnStoreDown::wait, OnStoreDown::run}) {
    RunSpec spec = spec_with(Millis(30'000));
    spec.on_store_down = down;
    spec.wait_timeout = Millis(3'000);
    RunDriver d(spec);
    d.on(Millis(0), Begin{});
    d.on(Millis(1), Quarantined{Millis(60'000)});
    d.tick_until(Millis(3'000));
    ASSERT_EQ(d.run.phase(), Phase::acquiring);
    d.on(Millis(3'001), Quarantined{Millis(57'000)});
    ASSERT_TRUE(d.run.outcome());
    EXPECT_EQ(d.run.outcome()->kind, Kind::store_down);
    EXPECT_EQ(d.run.outcome()->reason, Reason::quarantine);
    EXPECT_EQ(exit_code(*d.run.outcome(), 0), 69);
    EXPECT_EQ(launches(d), 0);
  }
}

TEST(RunQuarantine, AnUncertainGrantIsGivenBackBeforeTheEnd) {
  RunSpec spec = spec_with(Millis(30'000));
  spec.wait_timeout = Millis(3'000);
  RunDriver d(spec);
  d.on(Millis(0), Begin{});
  d.on(Millis(1), Unavailable{{Code::unreachable, "x"}, true, false});
  d.tick_until(Millis(2'500));
  d.on(Millis(2'501), Quarantined{Millis(60'000)});
  d.tick_until(Millis(3'000));
  d.on(Millis(3'001), Quarantined{Millis(57'000)});
  EXPECT_EQ(d.run.phase(), Phase::releasing);
  EXPECT_FALSE(d.run.outcome());
}

TEST(RunQuarantine, ASignalEndsTheWait) {
  RunDriver d(spec_with(Millis(30'000)));
  d.on(Millis(0), Begin{});
  d.on(Millis(1), Quarantined{Millis(60'000)});
  d.on(Millis(2), SignalArrived{15});
  ASSERT_TRUE(d.run.outcome());
  EXPECT_EQ(d.run.outcome()->kind, Kind::interrupted);
}

}  // namespace
}  // namespace cronlatch::testing
