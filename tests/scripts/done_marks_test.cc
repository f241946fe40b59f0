// SPDX-License-Identifier: Apache-2.0
// On a real server: what a run reports whatever became of its lease: R4, K6, C2.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(DoneMarks, R4MarksTheRunWhateverBecameOfItsLease) {
  const auto marks = [](const std::string& what, auto prepare, RunVerdict verdict) {
    ScriptBench bench;
    auto first = bench.acquisition("a");
    first.identity.once = "tick";
    bench.send(first);
    auto end = bench.end("a", verdict);
    end.identity.once = "tick";
    end.mark_done = true;
    prepare(bench);
    bench.send(end);
    auto later = bench.acquisition("d");
    later.identity.job = "ns/a";
    later.identity.once = "tick";
    EXPECT_EQ(got<Busy>(bench.send(later).reply).reason, BusyReason::done) << what;
  };
  for (const RunVerdict verdict : {RunVerdict::succeeded, RunVerdict::lost, RunVerdict::ungated}) {
    marks(
        "held", [](auto&) {}, verdict);
    marks(
        "expired", [](auto& bench) { bench.pass(30s); }, verdict);
    marks(
        "taken", [](auto& bench) { bench.pass(30s), bench.acquire("b"); }, verdict);
    marks(
        "released since",
        [](auto& bench) { bench.pass(30s), bench.acquire("b"), bench.release("b"); }, verdict);
    marks(
        "released", [](auto& bench) { bench.release("a", RunVerdict::failed); }, verdict);
    marks(
        "gone", [](auto& bench) { bench.client({"FLUSHALL"}); }, verdict);
  }
}

TEST(DoneMarks, R4KeepsTheDateOfAMarkThatIsMadeAgainAndMarksNothingWhenItIsLate) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("a");
  end.identity.once = "tick";
  got<TooLate>(bench.send(end, bench.now - 1us).reply);
  EXPECT_FALSE(bench.record().once.contains("ns/a"));
  bench.send(end);
  const auto before = bench.record();
  bench.pass(1s);
  got<Released>(bench.send(end).reply);

  EXPECT_EQ(bench.record(), before);
}

TEST(DoneMarks, CountsTheVerdictOfAFormerHolderOnceWhateverItIs) {
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    ScriptBench bench;
    bench.acquire("a");
    const auto end = bench.end("a", verdict);
    bench.pass(30s);
    bench.acquire("b");
    for (int i = 0; i < 2; ++i) got<NotHolder>(bench.send(end).reply);

    EXPECT_EQ(bench.counted("a", name), 1) << name;
    EXPECT_EQ(bench.counted("a", "last_success"),
              verdict == RunVerdict::succeeded ? bench.now.us : 0);
    EXPECT_EQ(bench.counted("a", "acquired"), 1);
    EXPECT_EQ(bench.counted("a", "released"), 0);
    EXPECT_EQ(bench.counted("a", "stolen"), 1);
  }
}

TEST(DoneMarks, CountsNoVerdictOfARunThatWasNeverGranted) {
  ScriptBench bench;
  bench.acquire("a");
  for (const RunVerdict verdict :
       {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::given_back}) {
    auto end = bench.end("b", verdict);
    bench.send(end);
    end.fence = 0;
    bench.send(end);
  }
  auto given_back = bench.end("c", RunVerdict::given_back);
  given_back.fence -= 1;
  bench.send(given_back);

  EXPECT_EQ(bench.record().jobs.size(), 1u);
}

TEST(DoneMarks, K6KeepsTheMarkJustMadeThoughTheClockWentBackAnd128AreKept) {
  ScriptBench bench;
  const auto finish = [&](std::uint32_t i) {
    bench.acquire("a", i);
    auto end = bench.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    bench.send(end);
  };
  for (std::uint32_t i = 1; i <= 128; ++i) finish(i), bench.pass(1s);
  bench.pass(-std::chrono::hours(1));
  finish(129);
  finish(130);
  const auto done = bench.record().once.at("ns/a");

  EXPECT_EQ(done.size(), 128u);
  EXPECT_TRUE(done.contains("tick-129"));
  EXPECT_TRUE(done.contains("tick-130"));
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
}

TEST(DoneMarks, K3GivesAGrantBackWhoseRunIsDoneBeforeItsAnswerWasHeard) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.once = "tick";
  got<Granted>(bench.send(first).reply);
  auto former = bench.end("b", RunVerdict::lost);
  former.identity = {"pod-b", "ns/a", "", "tick"};
  former.mark_done = true;
  got<NotHolder>(bench.send(former).reply);
  const auto refused = got<Busy>(bench.send(first).reply);

  EXPECT_EQ(refused.reason, BusyReason::done);
  EXPECT_EQ(got<Busy>(bench.send(first).reply), refused);
  EXPECT_EQ(bench.counted("a", "released"), 1);
  EXPECT_EQ(bench.counted("a", "skipped_done"), 1);
  EXPECT_FALSE(got<Granted>(bench.acquire("c")).stole);
}

}  // namespace
}  // namespace cronlatch::testing
