// SPDX-License-Identifier: Apache-2.0
// Finished pods: their Events and counts, with the checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "leader.h"
#include "support/eventually.h"

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
using testing::position;
using ::testing::UnorderedElementsAre;
using testing::updated;
using testing::with_version;
using testing::World;
using namespace std::chrono_literals;

TEST(Reconciler, RecordsARunOnJobAndCronJobAndCountsItOnce) {
  World world;
  Leader leader(world, "one");
  const Json end = pod("p1", "store_down", "unreachable");

  leader.reconciler.process(updated(ObjectKind::pod, end));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
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
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "store_down", "unreachable")));
  leader.reconciler.tick();
  leader.reconciler.tick();
  EXPECT_EQ(leader.counted("unreachable"), "");

  leader.election.step();
  leader.reconciler.tick();

  EXPECT_EQ(leader.counted("unreachable"), "1");
}

// As a CronJob whose command was written out with the wrapper.
TEST(Reconciler, KeepsTheErrorsOfACronJobWithoutAnnotationsUntilItIsDeleted) {
  World world;
  world.cronjob("true");
  Json cronjob = *world.api.at(kCronJob);
  cronjob["metadata"].erase("annotations");
  Leader leader(world, "one");
  const auto fail = [&](const char* uid) {
    leader.reconciler.process(updated(ObjectKind::pod, pod(uid, "store_down", "unreachable")));
    leader.settle();
  };
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  fail("p1");

  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));  // its status has changed
  EXPECT_EQ(leader.counted("unreachable"), "1");

  leader.reconciler.process({.kind = ObjectKind::cronjob,
                             .type = ObjectChange::Type::deleted,
                             .key = {"demo", "nightly"},
                             .uid = "cronjob-uid"});
  fail("p2");  // its last run
  EXPECT_EQ(leader.counted("unreachable"), "");

  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  fail("p3");
  EXPECT_EQ(leader.counted("unreachable"), "1");
}

ObjectChange deleted_cronjob() {
  return {.kind = ObjectKind::cronjob,
          .type = ObjectChange::Type::deleted,
          .key = {"demo", "nightly"},
          .uid = "cronjob-uid"};
}

// No event of the API server would remove the series.
TEST(Reconciler, NextLeaderCountsNoErrorOfADeletedCronJob) {
  World world;
  world.cronjob("true");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  one.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  one.reconciler.process(deleted_cronjob());
  one.settle();
  one.election.release();

  Leader two(world, "two");
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.reconciler.process(updated(ObjectKind::pod, pod("p1", "refused", "auth")));  // its last run
  two.reconciler.process(listed(ObjectKind::pod));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "");
}

TEST(Reconciler, CountsErrorsOfARecreatedCronJobWithInvalidAnnotations) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(deleted_cronjob());

  Json invalid = *world.api.at(kCronJob);
  invalid["metadata"]["annotations"]["cronlatch.dev/ttl"] = "invalid";
  leader.reconciler.process(updated(ObjectKind::cronjob, invalid));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "refused", "auth")));
  leader.settle();

  ASSERT_THAT(leader.metrics.text(), HasSubstr("cronlatch_gated_cronjobs{state=\"invalid\"} 1"));
  EXPECT_EQ(leader.counted("auth"), "1");
}

// Only the list shows which CronJobs of the checkpoint exist, and the lock of each.
TEST(Reconciler, CountsErrorsAfterTheCronJobsAreListed) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "refused", "auth")));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.settle();

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();

  std::string text;
  leader.exporter.append_text(text);
  EXPECT_THAT(text, HasSubstr(R"(lock="demo/nightly",reason="auth"} 1)"));
  EXPECT_EQ(leader.counted("auth"), "");
}

TEST(Reconciler, NextLeaderCountsErrorsOfACronJobThatRequestsNoLockNow) {
  World world;
  world.cronjob("true");
  Json cronjob = *world.api.at(kCronJob);
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  one.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  cronjob["metadata"].erase("annotations");
  one.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  one.settle();
  one.election.release();

  Leader two(world, "two");
  two.reconciler.process(updated(ObjectKind::pod, pod("p1", "refused", "auth")));
  two.reconciler.process(listed(ObjectKind::pod));
  two.settle();
  two.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "1");
}

// A second one would replace the first one before a renewal of the Lease wrote it.
TEST(Reconciler, CountsARunThatEndedWhileACheckpointWaits) {
  World world;
  Leader leader(world, "one");
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "store_down", "unreachable")));
  leader.reconciler.tick();
  leader.reconciler.process(updated(ObjectKind::pod, pod("p2", "store_down", "unreachable")));
  leader.reconciler.tick();

  leader.settle();

  EXPECT_EQ(leader.counted("unreachable"), "2");
}

// Until then, the position is that of the previous leader.
TEST(Reconciler, WritesNoCheckpointBeforeThePodsAreListed) {
  World world;
  Leader leader(world, "one");
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "store_down", "unreachable")));
  leader.settle();
  EXPECT_EQ(leader.election.saved_checkpoint(), "");

  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();
  EXPECT_NE(leader.election.saved_checkpoint(), "");
}

TEST(Reconciler, NextLeaderNeitherRecordsNorCountsTwice) {
  World world;
  const Json end = pod("p1", "refused", "auth");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  one.reconciler.process(updated(ObjectKind::pod, end));
  one.reconciler.process(position("1"));
  one.settle();
  ASSERT_EQ(one.counted("auth"), "1");
  one.election.release();
  world.api.forget_requests();

  Leader two(world, "two");
  two.reconciler.process(updated(ObjectKind::pod, end));
  two.reconciler.process(listed(ObjectKind::pod));
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "");
  EXPECT_EQ(world.events().size(), 2U);
}

TEST(Reconciler, NextLeaderCountsRecordedRunsWithoutCheckpoint) {
  World world;
  const Json end = pod("p1", "refused", "auth");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  one.reconciler.process(updated(ObjectKind::pod, end));
  one.reconciler.tick();  // recorded; then it dies before the next renewal
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
  two.reconciler.process(listed(ObjectKind::cronjob));
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
  leader.reconciler.process(position("1"));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();

  EXPECT_EQ(leader.counted("config"), "500");
  EXPECT_LT(leader.election.saved_checkpoint().size(), 300U);
}

// Its node was cut off: 5,000 later runs were reported before the API server received its status.
TEST(Reconciler, ReportsAPodThatIsDeliveredLate) {
  World world;
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  for (int i = 1; i <= 5'000; ++i) {
    const std::string version = std::to_string(i);
    one.reconciler.process(
        updated(ObjectKind::pod, with_version(pod("p" + version, "ran", "none"), version)));
    one.reconciler.process(position(version));
  }
  one.settle();
  one.election.release();
  const Json late = with_version(pod("late", "refused", "auth", "2026-11-20T00:00:00Z"), "5001");

  Leader two(world, "two");
  two.reconciler.process(updated(ObjectKind::pod, late));
  two.reconciler.process(listed(ObjectKind::pod));
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "1");
}

// The Event of the first one is rejected until the next leader retries it.
TEST(Reconciler, NextLeaderReportsAPodThatWaitedForARetry) {
  World world;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (string_at(r.body, {"note"}).find("nightly-p1:") == std::string::npos) return std::nullopt;
    return kube::Response{500, {}};
  };
  const Json stuck = pod("p1", "store_down", "unreachable");
  const Json other = with_version(pod("p2", "refused", "acl"), "2");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  for (const Json& each : {stuck, other}) one.reconciler.process(updated(ObjectKind::pod, each));
  one.reconciler.process(position("2"));
  one.settle();
  ASSERT_EQ(one.counted("acl"), "1");
  ASSERT_EQ(one.counted("unreachable"), "");
  one.election.release();
  world.api.intercept = nullptr;

  Leader two(world, "two");
  for (const Json& each : {stuck, other}) two.reconciler.process(updated(ObjectKind::pod, each));
  two.reconciler.process(position("3"));
  two.reconciler.process(listed(ObjectKind::pod));
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.settle();

  EXPECT_EQ(two.counted("unreachable"), "1");
  EXPECT_EQ(two.counted("acl"), "");
}

// It ended its term after the checkpoint was passed to the election, and before it was written.
TEST(Reconciler, NextLeaderCountsWhatWasNotCountedAtTheEndOfATerm) {
  World world;
  const Json end = pod("p1", "refused", "auth");
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(listed(ObjectKind::cronjob));
  one.reconciler.process(updated(ObjectKind::pod, end));
  one.reconciler.process(position("1"));
  one.reconciler.tick();
  one.reconciler.end_term();
  ASSERT_EQ(one.counted("auth"), "");
  one.election.release();

  Leader two(world, "two");
  two.reconciler.process(updated(ObjectKind::pod, end));
  two.reconciler.process(position("1"));
  two.reconciler.process(listed(ObjectKind::pod));
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.settle();

  EXPECT_EQ(two.counted("auth"), "1");
}

// The renewal wrote the checkpoint, and the term ended before the next tick.
TEST(Reconciler, CountsWhatTheCheckpointContainsAtTheEndOfATerm) {
  World world;
  Leader leader(world, "one");
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "refused", "auth")));
  leader.reconciler.tick();
  leader.election.step();

  leader.reconciler.end_term();

  EXPECT_EQ(leader.counted("auth"), "1");
}

TEST(Reconciler, AcceptsNoChangeWhileTooManyPodsWaitForARetry) {
  World world;
  world.api.intercept = [](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path == kEvents) return FakeApi::unreachable();
    return std::nullopt;
  };
  Leader leader(world, "one");
  std::size_t processed = 0;
  while (leader.reconciler.has_room() && processed < 10'000)
    leader.reconciler.process(
        updated(ObjectKind::pod, pod("p" + std::to_string(++processed), "usage", "config")));
  EXPECT_EQ(processed, 2'000U);

  world.api.intercept = nullptr;
  world.clock.pass(2s);
  leader.election.step();
  leader.reconciler.tick();
  EXPECT_TRUE(leader.reconciler.has_room());
  leader.reconciler.process(position("1"));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();

  EXPECT_EQ(leader.counted("config"), "2000");
}

TEST(Reconciler, NeedsNoRequestForAJobThatItWatches) {
  World world;
  Leader leader(world, "one");
  Json job = *world.api.at("/apis/batch/v1/namespaces/demo/jobs/nightly-2");
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.reconciler.process(updated(ObjectKind::job, job));
  world.api.forget_requests();

  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "ran", "none")));

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Acquired", "CronJob Acquired"));
  EXPECT_EQ(world.api.requests().size(), 2U);
}

// 200 pods of 200 Jobs, with 8 requests at once.
TEST(Reconciler, ReportsPodsInParallelAndEachOnce) {
  World world;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t now = 0, most = 0;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kEvents) return std::nullopt;
    std::unique_lock lock(mutex);
    most = std::max(most, ++now);
    changed.notify_all();
    // Until all workers have a request, or no further pod is left for them.
    changed.wait_for(lock, 100ms, [&] { return most == 8; });
    --now;
    return std::nullopt;
  };
  Leader leader(world, "one", 8);
  leader.reconciler.process(listed(ObjectKind::cronjob));
  for (int repetition = 0; repetition < 2; ++repetition)
    for (int i = 0; i < 200; ++i) {
      Json job = *world.api.at("/apis/batch/v1/namespaces/demo/jobs/nightly-2");
      job["metadata"]["name"] = "nightly-" + std::to_string(i);
      job["metadata"]["uid"] = "job-" + std::to_string(i);
      Json end = pod("p" + std::to_string(i), "usage", "config");
      end["metadata"]["ownerReferences"] = cronlatch::testing::owned_by(
          "Job", "nightly-" + std::to_string(i), "job-" + std::to_string(i));
      leader.reconciler.process(updated(ObjectKind::job, job));
      leader.reconciler.process(updated(ObjectKind::pod, end));
    }
  leader.reconciler.process(position("1"));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  EXPECT_TRUE(cronlatch::testing::eventually([&] {
    leader.settle();
    return leader.counted("config") == "200";
  }));

  EXPECT_EQ(most, 8U);
  const auto events = world.events();
  EXPECT_EQ(std::count(events.begin(), events.end(), "Job CannotStart"), 200);
}

// Two threads, and the first request of each pod waits: a second report of p1 would take the thread
// that p2 gets.
TEST(Reconciler, SendsTheRequestsForOnePodOneAtATime) {
  World world;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> waiting;
  bool is_open = false;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kEvents) return std::nullopt;
    std::unique_lock lock(mutex);
    if (!is_open) waiting.push_back(string_at(r.body, {"related", "name"}));
    changed.notify_all();
    changed.wait_for(lock, 10s, [&] { return is_open; });
    return std::nullopt;
  };
  Leader leader(world, "one", 2);
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  for (const char* version : {"1", "2"})
    leader.reconciler.process(
        updated(ObjectKind::pod, with_version(pod("p1", "usage", "config"), version)));
  leader.reconciler.process(
      updated(ObjectKind::pod, with_version(pod("p2", "usage", "config"), "3")));
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, 10s, [&] { return waiting.size() == 2; }));
    EXPECT_THAT(waiting, UnorderedElementsAre("nightly-p1", "nightly-p2"));
    is_open = true;
    changed.notify_all();
  }
  EXPECT_TRUE(cronlatch::testing::eventually([&] {
    leader.settle();
    return leader.counted("config") == "2";
  }));
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
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Killed", "CronJob Killed"));
  EXPECT_EQ(leader.counted("signal"), "1");
}

}  // namespace
}  // namespace cronlatch::op
