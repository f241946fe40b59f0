// SPDX-License-Identifier: Apache-2.0
// Finished pods: their Events and counts, with the checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "leader.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;
using testing::FakeApi;
using ::testing::HasSubstr;
using testing::kCronJob;
using testing::kEvents;
using testing::Leader;
using testing::listed;
using ::testing::Not;
using testing::pod;
using ::testing::UnorderedElementsAre;
using testing::updated;
using testing::World;
using namespace std::chrono_literals;

TEST(Reconciler, RecordsARunOnJobAndCronJobAndCountsItOnce) {
  World world;
  Leader leader(world, "one");
  const Json end = pod("p1", "store_down", "unreachable");

  leader.reconciler.process(updated(ObjectKind::pod, end));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.settle();
  leader.reconciler.process(updated(ObjectKind::pod, end));  // the watch delivers it again
  leader.settle();

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job StoreDown", "CronJob StoreDown"));
  EXPECT_EQ(leader.counted("unreachable"), "1");
}

TEST(Reconciler, CountsOnlyWhatTheCheckpointContains) {
  World world;
  Leader leader(world, "one");
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "store_down", "unreachable")));
  leader.reconciler.tick();
  leader.reconciler.tick();
  EXPECT_EQ(leader.counted("unreachable"), "");

  leader.election.step();
  leader.reconciler.tick();

  EXPECT_EQ(leader.counted("unreachable"), "1");
}

TEST(Reconciler, NextLeaderNeitherRecordsNorCountsTwice) {
  World world;
  const Json end = pod("p1", "refused", "auth");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(updated(ObjectKind::pod, end));
  one.settle();
  ASSERT_EQ(one.counted("auth"), "1");
  one.election.release();
  world.api.forget_requests();

  Leader two(world, "two");
  two.reconciler.process(updated(ObjectKind::pod, end));
  two.reconciler.process(listed(ObjectKind::pod));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "");
  EXPECT_EQ(world.events().size(), 2U);
}

TEST(Reconciler, NextLeaderCountsRecordedRunsWithoutCheckpoint) {
  World world;
  const Json end = pod("p1", "refused", "auth");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(updated(ObjectKind::pod, end));
  one.reconciler.tick();  // told; then it dies before the next renewal
  world.clock.pass(1min);

  Leader two = [&]() -> Leader {
    kube::Election watching(
        world.api, {world.clock, [] { return 0.5; }, [](Millis, const std::stop_token&) {}},
        {"cronlatch", "cronlatch-operator", "x"}, "two");
    watching.step();
    world.clock.pass(16s);
    watching.step();  // the lease is two's now
    return Leader(world, "two");
  }();
  two.reconciler.process(updated(ObjectKind::pod, end));
  two.reconciler.process(listed(ObjectKind::pod));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "1");
  EXPECT_EQ(world.events().size(), 2U);  // the second telling was answered 409
}

TEST(Reconciler, CountsEveryPodOfALongFirstListInAnyOrder) {
  World world;
  Leader leader(world, "one");
  for (int i = 0; i < 500; ++i) {
    const int order = (i * 7) % 500;
    char finished[32];
    std::snprintf(finished, sizeof finished, "2026-11-21T02:%02d:%02dZ", order / 60, order % 60);
    leader.reconciler.process(
        updated(ObjectKind::pod, pod("p" + std::to_string(order), "usage", "config", finished)));
  }
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.settle();

  EXPECT_EQ(leader.counted("config"), "500");
  EXPECT_LT(leader.election.saved_checkpoint().size(), 10'000U);
}

TEST(Reconciler, RecordsOnTheJobAloneWhenItsNameWasReused) {
  World world;
  world.api.put("/apis/batch/v1/namespaces/demo/jobs/nightly-2",
                {{"metadata", {{"name", "nightly-2"}, {"uid", "a newer one"}}}});
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "ran", "none")));

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Acquired"));
}

TEST(Reconciler, RetriesWhileTheApiServerIsUnavailable) {
  World world;
  Leader leader(world, "one");
  bool away = true;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (away && r.path == kEvents) return FakeApi::unreachable();
    return std::nullopt;
  };
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "skipped", "held")));
  EXPECT_TRUE(world.events().empty());

  away = false;
  world.clock.pass(2s);
  leader.reconciler.tick();

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Skipped", "CronJob Skipped"));
}

TEST(Reconciler, RecordsAndCountsARunThatWasKilledBeforeItsResult) {
  World world;
  Leader leader(world, "one");
  Json end = pod("p1", "ran", "none");
  end["status"]["phase"] = "Failed";
  end["status"]["containerStatuses"][0]["state"]["terminated"] = {
      {"exitCode", 137}, {"reason", "OOMKilled"}, {"finishedAt", "2026-11-21T02:00:01Z"}};

  leader.reconciler.process(updated(ObjectKind::pod, end));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.settle();

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Killed", "CronJob Killed"));
  EXPECT_EQ(leader.counted("signal"), "1");
}

}  // namespace
}  // namespace cronlatch::op
