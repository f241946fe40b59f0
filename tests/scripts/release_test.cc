// SPDX-License-Identifier: Apache-2.0
// Release on a real server: R1 to R4, K6, L0, C2.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(Release, R1IsRefusedToEverybodyButTheHolder) {
  ScriptBench bench;
  bench.acquire("a");
  EXPECT_EQ(got<NotHolder>(bench.release("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(bench.release("a", RunVerdict::succeeded, 2)).reason, LostReason::taken);

  EXPECT_EQ(bench.record().seat, rules::Seat::held);
  EXPECT_EQ(bench.counted("a", "released"), 0);
  EXPECT_EQ(bench.counted("b", "runs_succeeded"), 0);
}

TEST(Release, R2SetsFreeAndKeepsTheFenceAsTheFloor) {
  ScriptBench bench;
  const Fence fence = got<Granted>(bench.acquire("a")).fence;
  got<Released>(bench.release("a"));

  EXPECT_EQ(bench.record().seat, rules::Seat::free);
  EXPECT_EQ(bench.record().fence, fence);
}

TEST(Release, R3IsCountedOnceEvenWhenAnotherHoldsByThen) {
  ScriptBench bench;
  bench.acquire("a");
  got<Released>(bench.release("a"));
  got<Released>(bench.release("a"));
  bench.acquire("b");
  got<Released>(bench.release("a"));

  EXPECT_EQ(bench.counted("a", "released"), 1);
  EXPECT_EQ(bench.counted("a", "runs_succeeded"), 1);
  EXPECT_EQ(bench.record().seat, rules::Seat::held);
}

TEST(Release, R4MarksTheRunAsDoneIfTheCommandSucceededWhateverTheVerdict) {
  ScriptBench bench;
  for (const bool done : {true, false})
    for (const RunVerdict verdict :
         {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
          RunVerdict::cannot_start, RunVerdict::given_back, RunVerdict::ungated}) {
      bench.lock += "+";
      bench.acquire("a");
      auto end = bench.end("a", verdict);
      end.identity.once = "tick";
      end.mark_done = done;
      bench.send(end);

      EXPECT_EQ(bench.record().once.contains("ns/a"), done);
    }
}

TEST(Release, CountsEachVerdictUnderItsName) {
  ScriptBench bench;
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::lost, "lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    bench.lock += "+";
    bench.acquire("a");
    bench.release("a", verdict);

    EXPECT_EQ(bench.counted("a", name), 1) << name;
    EXPECT_EQ(bench.counted("a", "released"), 1) << name;
  }
}

TEST(Release, CountsNoRunForAGrantThatWasGivenBackAndKeepsNoMinHold) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("a", RunVerdict::given_back);
  end.min_hold = 60s;
  bench.send(end);

  EXPECT_EQ(bench.record().jobs.at("ns/a").values,
            (std::map<std::string, std::int64_t, std::less<>>{{"acquired", 1}, {"released", 1}}));
  got<Granted>(bench.acquire("b"));
}

TEST(Release, CountsTheHoldAndTheOverlongRun) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("a");
  end.held = 6s;
  end.overlong = true;
  bench.send(end);

  EXPECT_EQ(bench.counted("a", "hold_2"), 1);
  EXPECT_EQ(bench.counted("a", "hold_ms"), 6'000);
  EXPECT_EQ(bench.counted("a", "long"), 1);
  EXPECT_EQ(bench.counted("a", "last_success"), bench.now.us);
}

TEST(Release, ClosesAnExpiredLeaseThatNobodyTook) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(std::chrono::hours(1));
  got<Released>(bench.release("a"));

  EXPECT_EQ(bench.counted("a", "released"), 1);
}

TEST(Release, CountsALostAndAnUngatedRunOnceWhoeverHolds) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(30s);
  bench.acquire("b");
  for (int i = 0; i < 2; ++i) {
    got<NotHolder>(bench.release("a", RunVerdict::lost));
    got<NotHolder>(bench.release("c", RunVerdict::ungated));
  }

  EXPECT_EQ(bench.counted("a", "lost"), 1);
  EXPECT_EQ(bench.counted("a", "runs_lost"), 1);
  EXPECT_EQ(bench.counted("a", "released"), 0);
  EXPECT_EQ(bench.counted("c", "ungated"), 1);
}

TEST(Release, G5ChangesNothingAfterItsTime) {
  ScriptBench bench;
  bench.acquire("a");
  const auto before = bench.record();

  EXPECT_FALSE(got<TooLate>(bench.send(bench.end("a"), bench.now - 1us).reply).closed);
  EXPECT_EQ(bench.record(), before);
}

TEST(Release, K6KeepsTheNewest128RunsOfTheJobForOnceTtl) {
  ScriptBench bench;
  for (std::uint32_t i = 1; i <= 130; ++i) {
    bench.acquire("a", i);
    auto end = bench.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    bench.send(end);
    bench.pass(1s);
  }
  const auto done = bench.record().once.at("ns/a");
  auto next = bench.acquisition("a", 131);
  next.identity.once = "tick-130";
  bench.pass(std::chrono::hours(24) - 1s - 1us);
  const auto remembered = bench.send(next).reply;
  bench.pass(1us);
  next.claim.attempt = 132;

  EXPECT_EQ(done.size(), 128u);
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
  EXPECT_EQ(got<Busy>(remembered).reason, BusyReason::done);
  got<Granted>(bench.send(next).reply);
}

}  // namespace
}  // namespace cronlatch::testing
