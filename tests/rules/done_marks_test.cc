// SPDX-License-Identifier: Apache-2.0
// Marks of finished runs, and verdicts of runs that are not the holder: R4, K3, K6, C2.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class DoneMarksTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(DoneMarksTest);

TEST_P(DoneMarksTest, R4MarksTheRunInEveryStateOfItsLease) {
  const auto marks = [](const std::string& what, auto prepare, RunVerdict verdict) {
    Lock lock = new_lock();
    auto first = lock.acquisition("a");
    first.identity.once = "tick";
    lock.send(first);
    auto end = lock.end("a", verdict);
    end.identity.once = "tick";
    end.mark_done = true;
    prepare(lock);
    lock.send(end);
    auto later = lock.acquisition("d");
    later.identity.job = "ns/a";
    later.identity.once = "tick";
    EXPECT_EQ(got<Busy>(lock.send(later)).reason, BusyReason::done) << what;
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
        "gone", [](auto& lock) { lock.lose_everything(); }, verdict);
  }
}

TEST_P(DoneMarksTest, R4KeepsTheDateOfARepeatedMarkAndMarksNothingAfterTheDeadline) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto end = lock.end("a");
  end.identity.once = "tick";
  got<TooLate>(lock.send(end, lock.now - 1us));
  EXPECT_FALSE(lock.record().once.contains("ns/a"));
  lock.send(end);
  const auto before = lock.record();
  lock.pass(1s);
  got<Released>(lock.send(end));

  EXPECT_EQ(lock.record(), before);
}

TEST_P(DoneMarksTest, CountsEachVerdictOfAFormerHolderOnce) {
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    Lock lock = new_lock();
    lock.acquire("a");
    const auto end = lock.end("a", verdict);
    lock.pass(30s);
    lock.acquire("b");
    for (int i = 0; i < 2; ++i) got<NotHolder>(lock.send(end));

    EXPECT_EQ(lock.counted("a", name), 1) << name;
    EXPECT_EQ(lock.counted("a", "last_success"),
              verdict == RunVerdict::succeeded ? lock.now.us : 0);
    EXPECT_EQ(lock.counted("a", "acquired"), 1);
    EXPECT_EQ(lock.counted("a", "released"), 0);
    EXPECT_EQ(lock.counted("a", "stolen"), 1);
  }
}

TEST_P(DoneMarksTest, CountsNoVerdictOfARunThatWasNeverGranted) {
  Lock lock = new_lock();
  lock.acquire("a");
  for (const RunVerdict verdict :
       {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::given_back}) {
    auto end = lock.end("b", verdict);
    lock.send(end);
    end.fence = 0;
    lock.send(end);
  }
  auto given_back = lock.end("c", RunVerdict::given_back);
  given_back.fence -= 1;
  lock.send(given_back);

  EXPECT_EQ(lock.record().jobs.size(), 1u);
}

TEST_P(DoneMarksTest, K6KeepsANewMarkAfterTheClockWentBackThough128AreKept) {
  Lock lock = new_lock();
  const auto finish = [&](std::uint32_t i) {
    lock.acquire("a", i);
    auto end = lock.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    lock.send(end);
  };
  for (std::uint32_t i = 1; i <= 128; ++i) finish(i), lock.pass(1s);
  lock.pass(-std::chrono::hours(1));
  finish(129);
  finish(130);
  const auto done = lock.record().once.at("ns/a");

  EXPECT_EQ(done.size(), 128u);
  EXPECT_TRUE(done.contains("tick-129"));
  EXPECT_TRUE(done.contains("tick-130"));
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
}

// The request that is refused can be a copy that was delayed, after the holder received its grant.
TEST_P(DoneMarksTest, K3LeavesTheGrantOfARunWhoseIdentityIsDoneMeanwhile) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.once = "tick";
  got<Granted>(lock.send(first));
  auto former = lock.end("b", RunVerdict::lost);
  former.identity = {"pod-b", "ns/a", "", "tick"};
  former.mark_done = true;
  got<NotHolder>(lock.send(former));
  EXPECT_TRUE(got<TooLate>(lock.send(first)).closed);
  EXPECT_EQ(lock.counted("a", "skipped_done"), 0);
  ++first.claim.attempt;
  EXPECT_EQ(got<Busy>(lock.send(first)).reason, BusyReason::done);
  EXPECT_EQ(lock.counted("a", "skipped_done"), 1);
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(got<Busy>(lock.acquire("c")).reason, BusyReason::held);
  got<Renewed>(lock.renew("a"));
  lock.pass(31s);
  EXPECT_TRUE(got<Granted>(lock.acquire("c", 2)).stole) << "its lease ends by itself";
}

}  // namespace
}  // namespace cronlatch::testing
