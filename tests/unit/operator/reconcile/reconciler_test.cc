// SPDX-License-Identifier: Apache-2.0
// One leader, or two consecutive ones, with an API server in memory.
#include "operator/reconcile/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gated_pod.h"
#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using kube::Json;
using kube::string_at;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

const std::string kEvents = "/apis/events.k8s.io/v1/namespaces/demo/events";
const std::string kCronJob = "/apis/batch/v1/namespaces/demo/cronjobs/nightly";

Json pod(const std::string& uid, const std::string& outcome, const std::string& reason,
         const std::string& finished = "2026-11-21T02:00:01Z") {
  const std::string message = R"({"v":1,"outcome":")" + outcome + R"(","reason":")" + reason +
                              R"(","lock":"demo/nightly","fence":"7","holder":"h"})";
  return cronlatch::testing::ended_pod("nightly-" + uid, uid, message, 0, finished);
}

ObjectChange updated(ObjectKind kind, Json object) {
  return {.kind = kind, .object = std::move(object)};
}
ObjectChange listed(ObjectKind kind) {
  return {.kind = kind, .type = ObjectChange::Type::all_listed};
}

struct World {
  Settings settings;
  FakeApi api;
  HandClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};

  World() {
    const Json owner = cronlatch::testing::owned_by("CronJob", "nightly", "cronjob-uid");
    api.put("/apis/batch/v1/namespaces/demo/jobs/nightly-2", {{"metadata",
                                                               {{"namespace", "demo"},
                                                                {"name", "nightly-2"},
                                                                {"uid", "job-uid"},
                                                                {"ownerReferences", owner}}}});
  }
  void cronjob(const std::string& lock) {
    api.put(kCronJob,
            {{"metadata",
              {{"namespace", "demo"},
               {"name", "nightly"},
               {"uid", "cronjob-uid"},
               {"annotations", {{"cronlatch.dev/lock", lock}}}}},
             {"spec",
              {{"jobTemplate",
                {{"spec",
                  {{"template",
                    {{"spec",
                      {{"restartPolicy", "Never"},
                       {"containers",
                        {{{"name", "main"}, {"image", "x"}, {"command", {"true"}}}}}}}}}}}}}}}});
  }
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const Json& event : api.below(kEvents))
      out.push_back(string_at(event, {"regarding", "kind"}) + " " + string_at(event, {"reason"}));
    return out;
  }
};

struct Leader {
  World& world;
  Metrics metrics{"test"};
  Exporter exporter;
  kube::Election election;
  Reconciler reconciler;

  Leader(World& w, const std::string& name)
      : world(w),
        exporter([] { return true; }, metrics, w.clock),
        election(w.api, {w.clock, [] { return 0.5; }, [](Millis, const std::stop_token&) {}},
                 {"cronlatch", "cronlatch-operator", "cronlatch.dev/counted-pods"}, name),
        reconciler({w.settings, w.api, metrics, exporter, w.clock, w.log, election, name}) {
    election.step();
    EXPECT_TRUE(election.leading());
    reconciler.begin_term();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) {
      reconciler.tick();
      election.step();
      world.clock.pass(2s);
    }
    reconciler.tick();
  }
  std::string counted(const char* reason) {
    std::string text;
    exporter.append_text(text);
    const auto at = text.find(
        "cronlatch_run_errors_total{namespace=\"demo\",cronjob=\"nightly\",lock=\"\",reason=\"" +
        std::string(reason) + "\"} ");
    if (at == std::string::npos) return "";
    const auto value = text.find("} ", at) + 2;
    return text.substr(value, text.find('\n', value) - value);
  }
};

TEST(Reconciler, CopiesAnnotationsAndRecordsAnEvent) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.tick();

  EXPECT_NE(string_at(*world.api.at(kCronJob),
                      {"spec", "jobTemplate", "metadata", "annotations", "cronlatch.dev/lock"}),
            "");
  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored"));
  EXPECT_THAT(leader.metrics.text(), HasSubstr("cronlatch_gated_cronjobs{state=\"gated\"} 1"));
}

TEST(Reconciler, RetriesWithTheNewObjectAfterAConflict) {
  World world;
  world.cronjob("true");
  const Json old = *world.api.at(kCronJob);
  world.cronjob("true");  // written since: another version
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::cronjob, old));
  EXPECT_TRUE(world.events().empty());
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));

  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored"));
}

// The webhook of a replica that is being replaced still has other settings.
TEST(Reconciler, RetriesWhenAWebhookRevertedTheCopy) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  bool undone = true;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (!undone || r.method != kube::Method::patch || r.path != kCronJob) return std::nullopt;
    return kube::Response{200, *world.api.at(kCronJob)};
  };
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  EXPECT_TRUE(world.events().empty());

  undone = false;
  world.clock.pass(2s);
  leader.reconciler.tick();

  EXPECT_EQ(string_at(*world.api.at(kCronJob),
                      {"spec", "jobTemplate", "metadata", "annotations", "cronlatch.dev/lock"}),
            "true");
  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored"));
}

TEST(Reconciler, RecordsARunOnJobAndCronJobAndCountsItOnce) {
  World world;
  Leader leader(world, "one");
  const Json end = pod("p1", "store_down", "unreachable");

  leader.reconciler.process(updated(ObjectKind::pod, end));
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.settle();
  leader.reconciler.process(updated(ObjectKind::pod, end));  // the watch tells it again
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

TEST(Reconciler, WritesNothingAfterItsTerm) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  world.api.forget_requests();
  world.clock.pass(10s);

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(updated(ObjectKind::pod, pod("p1", "skipped", "held")));

  EXPECT_TRUE(world.api.writes().empty());
}

TEST(Reconciler, CountsAJobThatRunsWithoutItsLock) {
  World world;
  Leader leader(world, "one");
  const Json job{
      {"metadata",
       {{"namespace", "demo"},
        {"name", "j"},
        {"uid", "u"},
        {"annotations", {{"cronlatch.dev/lock", "true"}}}}},
      {"spec",
       {{"template", {{"spec", {{"containers", {{{"name", "m"}, {"command", {"true"}}}}}}}}}}}};

  leader.reconciler.process(updated(ObjectKind::job, job));
  leader.reconciler.process(updated(ObjectKind::job, job));
  leader.election.release();
  Leader next(world, "two");
  next.reconciler.process(updated(ObjectKind::job, job));

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job AdmissionBypassed"));
  EXPECT_THAT(next.metrics.text(), Not(HasSubstr("cronlatch_ungated_jobs_total{")));
  EXPECT_THAT(leader.metrics.text(),
              HasSubstr("cronlatch_ungated_jobs_total{namespace=\"demo\"} 1"));
}

// A Job of CronJob nightly that carries no annotation and is not gated.
Json unmirrored_job() {
  return {
      {"metadata",
       {{"namespace", "demo"},
        {"name", "nightly-3"},
        {"uid", "unmirrored"},
        {"ownerReferences", cronlatch::testing::owned_by("CronJob", "nightly", "cronjob-uid")}}},
      {"spec",
       {{"template",
         {{"spec", {{"containers", Json::array({{{"name", "m"}, {"command", {"true"}}}})}}}}}}}};
}

TEST(Reconciler, ChecksAJobAfterTheCronJobsAreListed) {
  World world;
  world.settings.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  world.cronjob("true");
  Json cronjob = *world.api.at(kCronJob);
  cronjob["metadata"].erase("annotations");
  world.api.put(kCronJob, cronjob);
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::job, unmirrored_job()));
  EXPECT_TRUE(world.events().empty());
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();

  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored", "Job AdmissionBypassed"));
  EXPECT_THAT(leader.metrics.text(),
              HasSubstr("cronlatch_ungated_jobs_total{namespace=\"demo\"} 1"));
}

TEST(Reconciler, ChecksNoJobAgainstACronJobThatReusedTheName) {
  World world;
  world.settings.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  world.cronjob("true");
  Leader leader(world, "one");
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  Json job = unmirrored_job();
  job["metadata"]["ownerReferences"][0]["uid"] = "an-earlier-one";

  leader.reconciler.process(updated(ObjectKind::job, job));

  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored"));
}

TEST(Reconciler, StoresTheEnforcementTimesInTheLease) {
  World world;
  world.settings.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  const auto kept = [](Leader& leader) {
    leader.reconciler.process(listed(ObjectKind::pod));
    leader.settle();
    return ReportedPods(leader.election.saved_checkpoint()).enforcement();
  };
  Leader one(world, "one");
  const EnforcementTimes first = kept(one);
  one.election.release();
  world.clock.pass(1h);

  Leader two(world, "two");
  EXPECT_EQ(kept(two), first);
  two.election.release();
  world.clock.pass(1h);

  world.settings.select[0].name = "daily*";
  Leader three(world, "three");
  const EnforcementTimes changed = kept(three);
  EXPECT_EQ(changed.gating, first.gating);
  EXPECT_GT(changed.select, first.select);
}

TEST(Reconciler, ExportsACronJobUntilItIsDeleted) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  leader.exporter.set_lock_stats({});
  const auto exported = [&] {
    std::string text;
    leader.exporter.append_text(text);
    return text;
  };

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));

  EXPECT_THAT(exported(), HasSubstr("cronlatch_lock_acquired_total{namespace=\"demo\",cronjob="
                                    "\"nightly\",lock=\"demo/nightly\"} 0\n"));
  EXPECT_THAT(leader.metrics.text(),
              HasSubstr("cronlatch_ungated_jobs_total{namespace=\"demo\"} 0"));

  leader.reconciler.process({.kind = ObjectKind::cronjob,
                             .type = ObjectChange::Type::deleted,
                             .key = {"demo", "nightly"},
                             .uid = "x"});

  EXPECT_THAT(exported(), Not(HasSubstr("nightly")));
}

TEST(Reconciler, NextLeaderKnowsDeletedAndRecreatedCronJobs) {
  World world;
  world.cronjob("true");
  LockView counted;
  counted.lock = "demo/nightly";
  counted.jobs["demo/nightly"].values = {{"acquired", 5}};
  const auto exported = [&](Leader& leader) {
    leader.exporter.set_lock_stats({.locks = {counted}, .error = ""});
    std::string text;
    leader.exporter.append_text(text);
    return text;
  };
  Leader one(world, "one");
  one.reconciler.process(listed(ObjectKind::pod));
  one.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  one.reconciler.process({.kind = ObjectKind::cronjob,
                          .type = ObjectChange::Type::deleted,
                          .key = {"demo", "nightly"},
                          .uid = "x"});
  one.settle();
  one.election.release();

  Leader two(world, "two");
  EXPECT_THAT(exported(two), Not(HasSubstr("nightly")));
  two.reconciler.process(listed(ObjectKind::pod));
  two.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  two.settle();
  EXPECT_THAT(exported(two), HasSubstr("lock=\"demo/nightly\"} 5"));
  two.election.release();

  Leader three(world, "three");
  EXPECT_THAT(exported(three), HasSubstr("lock=\"demo/nightly\"} 5"));
}

TEST(Reconciler, ExportsNoCronJobAfterItsTerm) {
  World world;
  world.cronjob("true");
  Leader leader(world, "one");
  leader.exporter.set_lock_stats({});
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));

  leader.reconciler.end_term();

  std::string text;
  leader.exporter.append_text(text);
  EXPECT_THAT(text, Not(HasSubstr("nightly")));
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

TEST(ReportedPods, IsRestoredFromItsCheckpoint) {
  ReportedPods reported;
  reported.add("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", {5'000'000});

  const ReportedPods read(reported.checkpoint());

  EXPECT_TRUE(read.has("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", {5'000'000}));
  EXPECT_FALSE(read.has("0a1b2c3d-4e5f-6072-8293-a4b5c6d7e8f9", {5'000'000}));
}

TEST(ReportedPods, RemembersTheNewestDeletedCronJobs) {
  ReportedPods reported;
  for (int i = 0; i < 300; ++i)
    reported.cronjob_deleted(std::string(253, 'n') + "/" + std::to_string(1'000 + i));
  const std::string checkpoint = reported.checkpoint();

  const ReportedPods read(checkpoint);

  EXPECT_LT(checkpoint.size(), 64U * 1024);
  EXPECT_EQ(read.deleted_cronjobs().size(), ReportedPods::kMaxDeleted);
  EXPECT_EQ(read.deleted_cronjobs().back(), std::string(253, 'n') + "/1299");
}

TEST(ReportedPods, IsEmptyForAnInvalidCheckpoint) {
  for (const char* checkpoint : {"", "garbage", "[]", R"({"before":"x","pods":[1]})"})
    EXPECT_FALSE(ReportedPods(checkpoint).has("uid", {1'000'000})) << checkpoint;
}

TEST(ReportedPods, TreatsPodsOlderThanAllListedAsReported) {
  ReportedPods reported;
  for (int i = 0; i < 300; ++i) reported.add("uid-" + std::to_string(i), {(100 + i) * 1'000'000LL});

  EXPECT_TRUE(reported.has("uid-5", {105'000'000}));
  EXPECT_TRUE(reported.has("uid-299", {399'000'000}));
  EXPECT_FALSE(reported.has("uid-new", {399'000'000}));
}

}  // namespace
}  // namespace cronlatch::op
