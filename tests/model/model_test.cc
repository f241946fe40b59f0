// SPDX-License-Identifier: Apache-2.0
// At least 20,000 schedules without a violation, and controls with a defect that the checker finds.
// CRONLATCH_MODEL_SEED=n runs one schedule and prints its events, CRONLATCH_MODEL_SCHEDULES=n sets
// the number of schedules.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "model/world.h"
#include "support/long_tests.h"

namespace cronlatch::model {
namespace {

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

struct Found {
  std::uint64_t seed = 0;
  std::string violation;
  Seen seen;
};

// Runs the seeds first, first+step, ... below `end` until one violates a rule.
Found search(std::uint64_t first, std::uint64_t end, std::uint64_t step, const Defects& defects) {
  Found found;
  for (std::uint64_t seed = first; seed < end; seed += step) {
    const Report report = run_schedule(seed, defects);
    found.seen.add(report.seen);
    if (report.violation.empty()) continue;
    found.seed = seed;
    found.violation = report.violation;
    break;
  }
  return found;
}

TEST(Model, NoScheduleOfTwentyThousandViolatesARule) {
  if (const auto seed = from_environment("CRONLATCH_MODEL_SEED")) {
    const Report report = run_schedule(*seed, {}, true);
    EXPECT_EQ(report.violation, "");
    return;
  }
  const std::uint64_t schedules = from_environment("CRONLATCH_MODEL_SCHEDULES")
                                      .value_or(testing::is_long_run() ? 200'000 : 20'000);
  constexpr unsigned kThreads = 2;
  Found found[kThreads];
  {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] { found[i] = search(i, schedules, kThreads, {}); });
    for (std::thread& t : threads) t.join();
  }
  Seen seen;
  for (const Found& f : found) {
    EXPECT_EQ(f.violation, "") << "to run it again: CRONLATCH_MODEL_SEED=" << f.seed;
    seen.add(f.seen);
  }
  std::printf(
      "granted %lu busy %lu stolen %lu late %lu disconnected %lu lease expired %lu crashes %lu "
      "pauses "
      "%lu revoked %lu\n"
      "restored %lu waited %lu canceled %lu data lost %lu rolled back %lu restored over an older "
      "record %lu steps back %lu leftovers %lu\n",
      seen.granted, seen.busy, seen.stolen, seen.late, seen.lost_replies, seen.killed_by_lease,
      seen.crashes, seen.pauses, seen.revoked, seen.restored, seen.waited, seen.canceled,
      seen.forgotten, seen.rolled_back, seen.restored_older, seen.backward_steps, seen.leftovers);
  for (const std::uint64_t n :
       {seen.granted, seen.busy, seen.stolen, seen.late, seen.lost_replies, seen.killed_by_lease,
        seen.crashes, seen.pauses, seen.revoked, seen.restored, seen.waited, seen.canceled,
        seen.forgotten, seen.rolled_back, seen.restored_older, seen.backward_steps, seen.leftovers})
    EXPECT_GE(n, 100u);
}

TEST(Model, TheSameSeedGivesTheSameSchedule) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    EXPECT_EQ(run_schedule(seed, {}).trace, run_schedule(seed, {}).trace) << seed;
}

// ---- negative controls ----
std::string violation_in_ten_thousand(const Defects& defects) {
  const Found found = search(0, 10'000, 1, defects);
  std::printf("seed %lu: %s\n", found.seed, found.violation.c_str());
  return found.violation;
}

TEST(Control, ALeaseWithoutMarginIsFound) {
  EXPECT_NE(violation_in_ten_thousand({.margin_zero = true}).find("S1"), std::string::npos);
}

TEST(Control, ALeaseThatStartsAtTheReplyIsFound) {
  EXPECT_NE(violation_in_ten_thousand({.dated_after_reply = true}).find("S1"), std::string::npos);
}

TEST(Control, AStoreThatExecutesLateRequestsIsFound) {
  EXPECT_NE(violation_in_ten_thousand({.no_not_after = true}).find("G5"), std::string::npos);
}

TEST(Control, AReleaseWithoutOwnerCheckIsFound) {
  EXPECT_NE(violation_in_ten_thousand({.release_without_owner = true}), "");
}

}  // namespace
}  // namespace cronlatch::model
