// SPDX-License-Identifier: Apache-2.0
// Runs of one lock with several slots, in a file store, in Redis and in PostgreSQL.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "each_store.h"

namespace cronlatch::testing {
namespace {

template <class Base>
class WithSlots : public Base {
 protected:
  ProgramSpec with_slots(unsigned slots, Words options, const Words& words) const {
    options.insert(options.end(), {"--slots", std::to_string(slots)});
    return this->run(options, words);
  }
};

class Slots : public WithSlots<Gated> {};

class SlotsInAStore : public WithSlots<OnEachStore> {};
INSTANTIATE_TEST_SUITE_P(Stores, SlotsInAStore, ::testing::Values("File", "Redis"), name_of_store);
// One server for all of them.
INSTANTIATE_TEST_SUITE_P(Shared, SlotsInAStore, ::testing::Values("Postgres"), name_of_store);

TEST_P(SlotsInAStore, TwoOfThreeRunAndTheThirdIsSkippedOrFails) {
  Program one(with_slots(2, {}, {"say", "up", "await", go()}));
  Program two(with_slots(2, {}, {"say", "up", "await", go()}));
  ASSERT_TRUE(one.says("up"));
  ASSERT_TRUE(two.says("up"));
  Program skipped(with_slots(2, {}, {"say", "started"}));
  EXPECT_EQ(skipped.exit_code(), 0);
  EXPECT_EQ(skipped.out(), "") << "the command must not run";
  Program failed(with_slots(2, {"--on-busy", "fail"}, {"say", "started"}));
  EXPECT_EQ(failed.exit_code(), 75);
  touch(go());
  EXPECT_EQ(one.exit_code(), 0);
  EXPECT_EQ(two.exit_code(), 0);
  EXPECT_TRUE(lock_is_free()) << "also for a run with one slot";
}

TEST_P(SlotsInAStore, AWaitingRunStartsWhenOneHolderEnds) {
  Program one(with_slots(2, {}, {"say", "up", "await", go()}));
  Program two(with_slots(2, {}, {"say", "up", "forever"}));
  ASSERT_TRUE(one.says("up"));
  ASSERT_TRUE(two.says("up"));
  Program waiter(with_slots(2, {"--on-busy", "wait"}, {"say", "started", "exit", "3"}));
  ASSERT_TRUE(waiter.complains("waiting for lock"));
  touch(go());
  EXPECT_EQ(waiter.exit_code(), 3) << waiter.err();
}

TEST_P(SlotsInAStore, AKilledHolderFreesItsSlot) {
  Program one(with_slots(2, {}, {"say", "up", "forever"}));
  Program two(with_slots(2, {"--ttl", "5s"}, {"say", "up", "forever"}));
  ASSERT_TRUE(one.says("up"));
  ASSERT_TRUE(two.says("up"));
  Program waiter(with_slots(2, {"--on-busy", "wait"}, {"exit", "3"}));
  ASSERT_TRUE(waiter.complains("waiting for lock"));
  // The wrapper alone. In a file store its command has the kernel lock, too; in the others its
  // lease ends.
  two.signal(SIGKILL);
  EXPECT_EQ(waiter.exit_code(), 3) << waiter.err();
}

TEST_P(SlotsInAStore, AnotherNumberIsRefusedWithBothNumbersAndAHolder) {
  Program one(with_slots(3, {"--holder", "first"}, {"say", "up", "await", go()}));
  ASSERT_TRUE(one.says("up"));
  for (const unsigned slots : {1U, 2U}) {
    Program other(with_slots(slots, {"--on-busy", "wait"}, {"say", "started"}));
    EXPECT_EQ(other.exit_code(), 78);
    EXPECT_EQ(other.out(), "");
    EXPECT_THAT(other.err(), ::testing::HasSubstr("slots is " + std::to_string(slots) +
                                                  ", and lock job has 3, which is held by first"));
  }
  touch(go());
  EXPECT_EQ(one.exit_code(), 0);
  Program other(with_slots(2, {}, {"exit", "3"}));
  EXPECT_EQ(other.exit_code(), 3) << "no run holds it";
}

// K2: at most one run of an identity at a time, also while slots are free. Then it is done.
TEST_P(SlotsInAStore, TwoRunsOfAnIdentityDoNotRunAtTheSameTime) {
  Program one(with_slots(3, {"--once-per", "monday"}, {"say", "up", "await", go()}));
  ASSERT_TRUE(one.says("up"));
  Program skipped(with_slots(3, {"--once-per", "monday"}, {"say", "started"}));
  EXPECT_EQ(skipped.exit_code(), 0);
  EXPECT_EQ(skipped.out(), "");
  Program waiter(with_slots(3, {"--once-per", "monday", "--on-busy", "wait"}, {"say", "started"}));
  ASSERT_TRUE(waiter.complains("waiting for lock"));
  Program other(with_slots(3, {"--once-per", "tuesday"}, {"exit", "3"}));
  EXPECT_EQ(other.exit_code(), 3) << other.err();
  touch(go());
  EXPECT_EQ(one.exit_code(), 0);
  EXPECT_EQ(waiter.exit_code(), 0) << waiter.err();
  EXPECT_EQ(waiter.out(), "") << "the identity is done";
}

TEST_P(SlotsInAStore, AReleaseWithoutForceNamesTheNumberOfHolders) {
  Program one(with_slots(2, {}, {"say", "up", "forever"}));
  Program two(with_slots(2, {}, {"say", "up", "forever"}));
  ASSERT_TRUE(one.says("up"));
  ASSERT_TRUE(two.says("up"));
  Program release({.argv = {binary(), "release", "job", "--store", store}});
  EXPECT_EQ(release.exit_code(), 64);
  const bool is_file = std::string_view(GetParam()) == "File";
  EXPECT_THAT(release.err(),
              ::testing::HasSubstr(is_file ? "a lock in a file cannot be revoked"
                                           : " and 1 more; the commands of all holders would be "
                                             "stopped"));
}

TEST_P(SlotsInAStore, AForcedReleaseNamesEachHolder) {
  if (std::string_view(GetParam()) == "File") GTEST_SKIP() << "a lock in a file cannot be revoked";
  // Given
  Program one(with_slots(2, {"--holder", "first"}, {"say", "up", "forever"}));
  Program two(with_slots(2, {"--holder", "second"}, {"say", "up", "forever"}));
  ASSERT_TRUE(one.says("up"));
  ASSERT_TRUE(two.says("up"));
  // When
  Program release({.argv = {binary(), "release", "job", "--force", "--store", store}});
  // Then
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  for (const char* holder : {"the lease of first, fence ", "the lease of second, fence "})
    EXPECT_THAT(release.out(), ::testing::HasSubstr(holder));
  EXPECT_EQ(one.exit_code(), 79) << one.err();
  EXPECT_EQ(two.exit_code(), 79) << two.err();
}

// Each run has a file while it holds a slot: the directory lists the runs of this moment.
// The time limits are long, because a slow machine is no reason to fail.
TEST_P(SlotsInAStore, FiveOfManyRunAtATime) {
  constexpr unsigned kSlots = 5;
  constexpr int kStarts = 100;
  const std::string inside = dir.path("inside");
  std::filesystem::create_directory(inside);
  const std::string job = "touch " + inside + "/$$; [ $(ls " + inside +
                          " | wc -l) -le 5 ] || exit 9; " + "sleep 0.02; rm " + inside + "/$$";
  std::vector<std::unique_ptr<Program>> runs;
  for (int i = 0; i < kStarts; ++i)
    runs.push_back(std::make_unique<Program>(ProgramSpec{
        .argv = {binary(), "run",       "--lock",       "job",     "--store",
                 store,    "--on-busy", "wait",         "--slots", std::to_string(kSlots),
                 "--ttl",  "5m",        "--op-timeout", "30s",     "--connect-timeout",
                 "30s",    "--",        "/bin/sh",      "-c",      job}}));
  std::size_t most = 0;
  std::size_t ended = 0;
  ASSERT_TRUE(eventually(
      [&] {
        const auto in = std::filesystem::directory_iterator(inside);
        most = std::max(most, static_cast<std::size_t>(std::distance(begin(in), end(in))));
        while (ended < runs.size() && !is_alive(runs[ended]->pid())) ++ended;
        return ended == runs.size();
      },
      120s));
  for (auto& one : runs) EXPECT_EQ(one->exit_code(), 0) << one->err();
  EXPECT_LE(most, kSlots);
  EXPECT_GT(most, 1U) << "the runs did not run at the same time";
  Program show({.argv = {binary(), "show", "--store", store, "-o", "json", "job"}});
  ASSERT_EQ(show.exit_code(), 0);
  EXPECT_THAT(show.out(), ::testing::HasSubstr("\"acquired\":" + std::to_string(kStarts)));
  EXPECT_THAT(show.out(), ::testing::HasSubstr("\"released\":" + std::to_string(kStarts)));
}

TEST_F(Slots, TheKernelGrantsExactlyAsManyAsThereAre) {
  constexpr unsigned kSlots = 5;
  std::vector<std::unique_ptr<Program>> runs;
  for (int i = 0; i < 20; ++i)
    runs.push_back(std::make_unique<Program>(
        with_slots(kSlots, {"--on-busy", "fail"}, {"say", "up", "await", go()})));
  std::size_t holding = 0, busy = 0;
  for (auto& one : runs) {
    ASSERT_TRUE(one->until(
        [&] { return one->out().find("up") != std::string::npos || !is_alive(one->pid()); }));
    if (one->out().find("up") != std::string::npos)
      ++holding;
    else
      ++busy;
  }
  EXPECT_EQ(holding, kSlots);
  EXPECT_EQ(busy, runs.size() - kSlots);
  std::size_t locked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path("locks"))) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".lock") && !name.ends_with(".slot")) continue;
    Program probe({.argv = {"/usr/bin/flock", "-n", "-E", "5", entry.path(), "/bin/true"}});
    locked += probe.exit_code() == 5;
  }
  EXPECT_EQ(locked, kSlots);
  touch(go());
  for (auto& one : runs) {
    const std::optional<int> code = one->exit_code();
    EXPECT_TRUE(code == 0 || code == 75) << one->err();
  }
}

TEST_F(Slots, AreRefusedBeforeAnythingIsSentWhereTheStoreHasOne) {
  for (const Words& options : {Words{"--store", "redis://a,redis://b,redis://c"},
                               Words{"--lock-file", dir.path("file")}}) {
    Words argv = {binary(), "run", "--slots", "2"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "/bin/true"});
    Program refused({.argv = argv});
    EXPECT_EQ(refused.exit_code(), 78);
    EXPECT_THAT(refused.err(), ::testing::HasSubstr("slots: 2 is above 1"));
  }
  EXPECT_FALSE(exists(dir.path("file")));
  for (const std::string bad : {"0", "1001", "-1", "many"}) {
    Program refused({.argv = {binary(), "run", "--slots", bad, "--", "/bin/true"}});
    EXPECT_EQ(refused.exit_code(), 64) << bad;
    EXPECT_THAT(refused.err(), ::testing::HasSubstr("slots"));
  }
}

TEST_F(Slots, OfARunAreNotThoseOfARunInItsCommand) {
  Program outer({.argv = {binary(), "run", "--lock", "outer", "--store", store, "--slots", "2",
                          "--", "/usr/bin/env"},
                 .env = {"PATH=/usr/bin:/bin", "CRONLATCH_SLOTS=2"}});
  EXPECT_EQ(outer.exit_code(), 0) << outer.err();
  EXPECT_THAT(outer.out(), ::testing::Not(::testing::HasSubstr("CRONLATCH_SLOTS")));
}

}  // namespace
}  // namespace cronlatch::testing
