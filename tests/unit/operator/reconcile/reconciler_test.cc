// SPDX-License-Identifier: Apache-2.0
// CronJobs and Jobs: copied annotations, ungated Jobs, exported series.
#include "operator/reconcile/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rfc3339.h"
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

TEST(Reconciler, ChecksEachOfManyJobsAfterTheCronJobsAreListed) {
  World world;
  world.settings.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  world.cronjob("true");
  Leader leader(world, "one");
  Json other = unmirrored_job();
  other["metadata"]["ownerReferences"] = cronlatch::testing::owned_by("CronJob", "other", "o");
  for (int i = 0; i < 2'000; ++i) {
    other["metadata"]["name"] = other["metadata"]["uid"] = "other-" + std::to_string(i);
    leader.reconciler.process(updated(ObjectKind::job, other));
  }
  const std::string jobs = "/apis/batch/v1/namespaces/demo/jobs/";
  Json renamed = unmirrored_job();
  renamed["metadata"]["name"] = renamed["metadata"]["uid"] = "nightly-4";
  Json finished = unmirrored_job();
  finished["metadata"]["name"] = finished["metadata"]["uid"] = "nightly-5";
  for (const Json& job : {unmirrored_job(), renamed, finished})
    leader.reconciler.process(updated(ObjectKind::job, job));
  // When
  world.api.put(jobs + "nightly-3", unmirrored_job());
  renamed["metadata"]["uid"] = "created-again";
  world.api.put(jobs + "nightly-4", renamed);
  finished["status"]["conditions"] = {{{"type", "Complete"}, {"status", "True"}}};
  world.api.put(jobs + "nightly-5", finished);
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();
  // Then
  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored", "Job AdmissionBypassed"));
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
    leader.reconciler.process(listed(ObjectKind::cronjob));
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

ObjectChange deleted_cronjob() {
  return {.kind = ObjectKind::cronjob,
          .type = ObjectChange::Type::deleted,
          .key = {"demo", "nightly"},
          .uid = "cronjob-uid"};
}

// One that failed would be exported again by each retry, which fails as well.
void expect_no_trace_of_nightly(Leader& leader) {
  leader.world.api.forget_requests();
  leader.world.clock.pass(2min);
  leader.election.step();
  leader.reconciler.tick();

  leader.exporter.set_lock_stats({});
  std::string text;
  leader.exporter.append_text(text);
  EXPECT_THAT(text, Not(HasSubstr("nightly")));
  EXPECT_THAT(leader.metrics.text(), HasSubstr("cronlatch_gated_cronjobs{state=\"pending\"} 0"));
  for (const kube::Request& request : leader.world.api.writes()) EXPECT_NE(request.path, kCronJob);
}

TEST(Reconciler, RetriesNoPatchOfACronJobThatWasDeleted) {
  World world;
  world.cronjob("true");
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kCronJob) return std::nullopt;
    return kube::Response{500};
  };
  Leader leader(world, "one");
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));

  leader.reconciler.process(deleted_cronjob());

  expect_no_trace_of_nightly(leader);
}

TEST(Reconciler, RetriesNoPatchOfACronJobThatWasDeletedDuringTheRequest) {
  World world;
  world.cronjob("true");
  Leader* leader_of_request = nullptr;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kCronJob) return std::nullopt;
    leader_of_request->reconciler.process(deleted_cronjob());
    return kube::Response{500};
  };
  Leader leader(world, "one");
  leader_of_request = &leader;

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));

  expect_no_trace_of_nightly(leader);
}

TEST(Reconciler, RetriesThePatchOfACronJobThatWasCreatedAgain) {
  World world;
  world.cronjob("true");
  bool is_available = false;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kCronJob || is_available) return std::nullopt;
    return kube::Response{500};
  };
  Leader leader(world, "one");
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  leader.reconciler.process(deleted_cronjob());
  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  is_available = true;
  world.clock.pass(2s);

  leader.reconciler.tick();

  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob Mirrored"));
}

// Admission refuses a CronJob whose annotations request a lock that its Jobs cannot get.
TEST(Reconciler, RecordsWhyTheApiServerRefusesTheCopies) {
  World world;
  world.cronjob("true");
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kCronJob) return std::nullopt;
    return kube::Response{403, Json{{"message", "its image's command is unknown"}}};
  };
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  const auto retry = [&] {
    world.clock.pass(2min);
    leader.election.step();
    leader.reconciler.tick();
  };
  retry();
  retry();

  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob NotMirrored"));
  const std::string note = string_at(world.api.below(kEvents).front(), {"note"});
  EXPECT_THAT(note, HasSubstr("(cronlatch.dev/lock)"));
  EXPECT_THAT(note, HasSubstr("its image's command is unknown"));

  world.api.intercept = nullptr;
  retry();
  EXPECT_THAT(world.events(), UnorderedElementsAre("CronJob NotMirrored", "CronJob Mirrored"));
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
  one.reconciler.process(listed(ObjectKind::cronjob));
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
  two.reconciler.process(listed(ObjectKind::cronjob));
  two.reconciler.process(updated(ObjectKind::cronjob, *world.api.at(kCronJob)));
  two.settle();
  EXPECT_THAT(exported(two), HasSubstr("lock=\"demo/nightly\"} 5"));
  two.election.release();

  Leader three(world, "three");
  EXPECT_THAT(exported(three), HasSubstr("lock=\"demo/nightly\"} 5"));
}

// ---- since when a CronJob can be overdue ----

// Created in January, with a run in each hour.
Json old_cronjob(World& world) {
  world.cronjob("true");
  Json cronjob = *world.api.at(kCronJob);
  cronjob["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z";
  cronjob["spec"]["schedule"] = "0 * * * *";
  return cronjob;
}

std::string overdue_at(Leader& leader, const char* creation = "2025-01-01T00:00:00Z") {
  leader.exporter.set_lock_stats({});
  std::string text;
  leader.exporter.append_text(text);
  const std::string series =
      R"(cronlatch_success_deadline_seconds{namespace="demo",cronjob="nightly",lock="demo/nightly"} )";
  const std::size_t at = text.find(series);
  if (at == std::string::npos) return "never";
  const WallTime created = parse_rfc3339(creation).value_or(WallTime{});
  return rfc3339({created.us + std::stoll(text.substr(at + series.size())) * 1'000'000});
}

// The clock of the tests begins at 01:53:21.
TEST(Reconciler, ACronJobIsNotOverdueForTheTimeBeforeTheInstallation) {
  World world;
  const Json cronjob = old_cronjob(world);
  Leader leader(world, "one");

  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));

  EXPECT_EQ(overdue_at(leader), "2025-11-21T03:00:00Z");
}

TEST(Reconciler, ACronJobIsNotOverdueForTheTimeBeforeItsAnnotation) {
  World world;
  Json cronjob = old_cronjob(world);
  Json annotations = Json::object();
  annotations.swap(cronjob["metadata"]["annotations"]);
  {
    Leader first(world, "one");
    first.reconciler.process(listed(ObjectKind::pod));
    first.reconciler.process(listed(ObjectKind::cronjob));
    first.settle();
    first.election.release();
  }
  world.clock.pass(10h);
  Leader leader(world, "two");
  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  EXPECT_EQ(overdue_at(leader), "never");

  cronjob["metadata"]["annotations"] = annotations;
  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  EXPECT_EQ(overdue_at(leader), "2025-11-21T13:00:00Z");

  world.clock.pass(5h);  // no change that matters
  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
  EXPECT_EQ(overdue_at(leader), "2025-11-21T13:00:00Z");
}

// The leader reads it a moment later.
TEST(Reconciler, ACronJobThatIsCreatedWithItsAnnotationCountsFromItsCreation) {
  World world;
  Leader leader(world, "one");
  leader.reconciler.process(listed(ObjectKind::cronjob));
  world.clock.pass(1h);
  Json cronjob = old_cronjob(world);
  constexpr const char* kCreation = "2025-11-21T02:53:19Z";
  cronjob["metadata"]["creationTimestamp"] = kCreation;
  cronjob["metadata"]["annotations"]["cronlatch.dev/alert-after"] = "26h";

  leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));

  EXPECT_EQ(overdue_at(leader, kCreation), "2025-11-22T04:53:19Z");
}

TEST(Reconciler, ACronJobIsNotOverdueForTheTimeBeforeItWasSelected) {
  World world;
  Json cronjob = old_cronjob(world);
  cronjob["metadata"].erase("annotations");
  const auto lead = [&](const char* name) {
    Leader leader(world, name);
    leader.reconciler.process(listed(ObjectKind::pod));
    leader.reconciler.process(updated(ObjectKind::cronjob, cronjob));
    leader.reconciler.process(listed(ObjectKind::cronjob));
    leader.settle();
    const std::string overdue = overdue_at(leader);
    leader.election.release();
    return overdue;
  };
  EXPECT_EQ(lead("one"), "never");
  world.clock.pass(10h);
  world.settings.select = {{"demo", "night*", {}, {{"lock", "true"}}}};

  EXPECT_EQ(lead("two"), "2025-11-21T13:00:00Z");
  world.clock.pass(5h);
  EXPECT_EQ(lead("three"), "2025-11-21T13:00:00Z");
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

}  // namespace
}  // namespace cronlatch::op
