// SPDX-License-Identifier: Apache-2.0
// By the rules: what a run reports whatever became of its lease: R4, K6, C2.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesDoneMarks, R4MarksTheRunWhateverBecameOfItsLease) {
  const auto marks = [](const std::string& what, auto prepare, RunVerdict verdict) {
    Lock lock;
    auto first = lock.acquisition("a");
    first.identity.once = "tick";
    lock.acquire(first);
    auto end = lock.end("a", verdict);
    end.identity.once = "tick";
    end.mark_done = true;
    prepare(lock);
    lock.release(end);
    auto later = lock.acquisition("d");
    later.identity.job = "ns/a";
    later.identity.once = "tick";
    EXPECT_EQ(got<Busy>(lock.acquire(later)).reason, BusyReason::done) << what;
  };
  for (const RunVerdict verdict : {RunVerdict::succeeded, RunVerdict::lost, RunVerdict::ungated}) {
    marks(
        "held", [](auto&) {}, verdict);
    marks(
        "expired", [](auto& lock) { lock.pass(30s); }, verdict);
    marks(
        "taken", [](auto& lock) { lock.pass(30s), lock.acquire("b"); }, verdict);
    marks(
        "released since", [](auto& lock) { lock.pass(30s), lock.acquire("b"), lock.release("b"); },
        verdict);
    marks(
        "released", [](auto& lock) { lock.release("a", RunVerdict::failed); }, verdict);
    marks(
        "gone", [](auto& lock) { lock.record = {}; }, verdict);
  }
}

TEST(RulesDoneMarks, R4KeepsTheDateOfAMarkThatIsMadeAgainAndMarksNothingWhenItIsLate) {
  Lock lock;
  lock.acquire("a");
  auto end = lock.end("a");
  end.identity.once = "tick";
  got<TooLate>(rules::decide(lock.record, end, lock.now, lock.now - 1us));
  EXPECT_FALSE(lock.record.once.contains("ns/a"));
  lock.release(end);
  const auto before = lock.record;
  lock.pass(1s);
  got<Released>(lock.release(end));

  EXPECT_EQ(lock.record, before);
}

TEST(RulesDoneMarks, CountsTheVerdictOfAFormerHolderOnceWhateverItIs) {
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    Lock lock;
    lock.acquire("a");
    const auto end = lock.end("a", verdict);
    lock.pass(30s);
    lock.acquire("b");
    for (int i = 0; i < 2; ++i) got<NotHolder>(lock.release(end));

    EXPECT_EQ(lock.counted("a", name), 1) << name;
    EXPECT_EQ(lock.counted("a", "last_success"),
              verdict == RunVerdict::succeeded ? lock.now.us : 0);
    EXPECT_EQ(lock.counted("a", "acquired"), 1);
    EXPECT_EQ(lock.counted("a", "released"), 0);
    EXPECT_EQ(lock.counted("a", "stolen"), 1);
  }
}

TEST(RulesDoneMarks, CountsNoVerdictOfARunThatWasNeverGranted) {
  Lock lock;
  lock.acquire("a");
  for (const RunVerdict verdict :
       {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::given_back}) {
    auto end = lock.end("b", verdict);
    lock.release(end);
    end.fence = 0;
    lock.release(end);
  }
  auto given_back = lock.end("c", RunVerdict::given_back);
  given_back.fence -= 1;
  lock.release(given_back);

  EXPECT_EQ(lock.record.jobs.size(), 1u);
}

TEST(RulesDoneMarks, K6KeepsTheMarkJustMadeThoughTheClockWentBackAnd128AreKept) {
  Lock lock;
  const auto finish = [&](std::uint32_t i) {
    lock.acquire("a", i);
    auto end = lock.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    lock.release(end);
  };
  for (std::uint32_t i = 1; i <= 128; ++i) finish(i), lock.pass(1s);
  lock.pass(-std::chrono::hours(1));
  finish(129);
  finish(130);
  const auto done = lock.record.once.at("ns/a");

  EXPECT_EQ(done.size(), 128u);
  EXPECT_TRUE(done.contains("tick-129"));
  EXPECT_TRUE(done.contains("tick-130"));
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
}

TEST(RulesDoneMarks, K3GivesAGrantBackWhoseRunIsDoneBeforeItsAnswerWasHeard) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.once = "tick";
  got<Granted>(lock.acquire(first));
  auto former = lock.end("b", RunVerdict::lost);
  former.identity = {"pod-b", "ns/a", "", "tick"};
  former.mark_done = true;
  got<NotHolder>(lock.release(former));
  const auto refused = got<Busy>(lock.acquire(first));

  EXPECT_EQ(refused.reason, BusyReason::done);
  EXPECT_EQ(got<Busy>(lock.acquire(first)), refused);
  EXPECT_EQ(lock.counted("a", "released"), 1);
  EXPECT_EQ(lock.counted("a", "skipped_done"), 1);
  EXPECT_FALSE(got<Granted>(lock.acquire("c")).stole);
}

}  // namespace
}  // namespace cronlatch::testing
