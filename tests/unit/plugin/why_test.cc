// SPDX-License-Identifier: Apache-2.0
// Each cause, in the recorded cluster with one change.
#include "plugin/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rfc3339.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

RunFinding cause(const Cluster& cluster, const std::string& name) {
  return explain_last_run(cluster, cronjob_of(cluster, name)).findings.front();
}

// The only run of `nightly` has one pod, which the test changes.
struct OneRun {
  Cluster cluster = recorded();
  Pod* pod = nullptr;
  Job* job = nullptr;

  OneRun() {
    std::erase_if(cluster.jobs, [](const Job& j) { return j.name != "nightly-skipped"; });
    job = &cluster.jobs.front();
    for (Pod& one : cluster.pods)
      if (one.job == job->name) pod = &one;
  }
  RunFinding cause() const { return plugin::cause(cluster, "nightly"); }
  void ends(Kind kind, Reason reason = Reason::none, int code = 0) {
    pod->result.kind = kind;
    pod->result.reason = reason;
    pod->exit_code = code;
  }
};

TEST(Explanation, SkipNamesHolderSinceAndUntil) {
  const OneRun run;
  EXPECT_EQ(run.cause().code, "skipped");
  EXPECT_THAT(run.cause().what,
              HasSubstr("held by shop/nightly-holds-ppx9d since "
                        "2026-11-22T06:20:03Z, lease until 2026-11-22T06:23:03Z"));
  EXPECT_THAT(run.cause().next, HasSubstr("release shop/nightly --force"));
}

TEST(Explanation, AnIdentityThatIsDoneButNotRecordedIsReported) {
  OneRun run;
  run.ends(Kind::ran);
  run.pod->result.not_marked = true;
  const auto findings = explain_last_run(run.cluster, cronjob_of(run.cluster, "nightly")).findings;
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].code, "not_marked");
}

TEST(Explanation, MissingOperatorIsReportedFromTheNameOfItsWebhook) {
  const RunFinding finding = cause(recorded(), "hourly");
  EXPECT_EQ(finding.code, "operator_away");
  EXPECT_THAT(finding.what, HasSubstr("annotated-jobs-need-the-operator.cronlatch.dev"));
}

TEST(Explanation, RefusalContainsTheMessageOfTheWebhook) {
  Cluster cluster = recorded();
  for (ClusterEvent& event : cluster.events)
    if (event.reason == "FailedCreate")
      event.message =
          "Error creating job: admission webhook "
          "\"annotated-jobs-need-the-operator.cronlatch.dev\" "
          "denied the request: spec.parallelism: 2";
  EXPECT_EQ(cause(cluster, "hourly").code, "refused");
  EXPECT_THAT(cause(cluster, "hourly").what, HasSubstr("spec.parallelism: 2"));
  for (ClusterEvent& event : cluster.events)
    if (event.reason == "FailedCreate")
      event.message = "jobs.batch \"x\" is forbidden: exceeded quota: none";
  EXPECT_EQ(cause(cluster, "hourly").code, "quota");
  for (ClusterEvent& event : cluster.events)
    if (event.reason == "FailedCreate")
      event.message =
          "jobs.batch \"x\" is forbidden: ValidatingAdmissionPolicy 'cronlatch-gated-jobs' with "
          "binding 'cronlatch-gated-jobs' denied request: this Job requests a lock";
  EXPECT_EQ(cause(cluster, "hourly").code, "operator_away");
}

TEST(Explanation, AWrapperThatDoesNotStartFromItsImageVolumeNamesTheNode) {
  OneRun run;
  run.pod->node = "old-node";
  run.pod->wrapper_image = "registry.example/cronlatch:1";
  run.pod->result = {};
  run.pod->exit_code = 128;
  run.pod->end_reason = "StartError";
  EXPECT_EQ(run.cause().code, "image_volume");
  EXPECT_THAT(run.cause().what, HasSubstr("node old-node"));
  run.pod->ended = run.pod->running = false;
  run.pod->phase = "Pending";
  run.pod->waiting = "CreateContainerError";
  EXPECT_EQ(run.cause().code, "image_volume");
  EXPECT_THAT(run.cause().next, HasSubstr("injection"));
  run.pod->wrapper_image = "";
  EXPECT_EQ(run.cause().code, "waiting_container");
}

TEST(Explanation, AnImageVolumeThatCannotBePulledIsTheWrappersImage) {
  OneRun run;
  run.pod->wrapper_image = "registry.example/cronlatch:1";
  run.pod->ended = run.pod->running = false;
  run.pod->phase = "Pending";
  run.pod->waiting = "ImagePullBackOff";
  run.pod->waiting_container = "main";
  run.pod->waiting_message = "Back-off pulling image \"registry.example/cronlatch:1\"";
  EXPECT_EQ(run.cause().code, "image");
  EXPECT_THAT(run.cause().next, HasSubstr("inject.image"));
}

TEST(Explanation, ForbidNamesTheActiveRun) {
  const RunFinding finding = cause(recorded(), "busy");
  EXPECT_EQ(finding.code, "forbid_active");
  EXPECT_THAT(finding.what, HasSubstr("busy-29922146"));
}

TEST(Explanation, SuspendedCronJobIsTheFirstCause) {
  EXPECT_EQ(cause(recorded(), "report").code, "suspended");
}

TEST(Explanation, MissedDeadlineIsReportedFromTheClockOrTheEvent) {
  Cluster cluster = recorded();
  std::erase_if(cluster.events, [](const ClusterEvent& e) { return e.reason == "FailedCreate"; });
  EXPECT_EQ(cause(cluster, "hourly").code, "no_job");  // within its 200 s
  cluster.events.push_back({"away", "CronJob", "hourly", "MissSchedule",
                            "Missed scheduled time to start a job", true, cluster.now});
  EXPECT_EQ(cause(cluster, "hourly").code, "missed_deadline");
  cluster.events.pop_back();
  for (CronJob& cronjob : cluster.cronjobs) cronjob.starting_deadline = Seconds(10);
  EXPECT_EQ(cause(cluster, "hourly").code, "missed_deadline");
}

TEST(Explanation, WithoutEventsTheCauseOfAMissingRunIsNotKnown) {
  Cluster cluster = recorded();
  cluster.events.clear();
  cluster.unreadable = {"pods"};
  EXPECT_EQ(cause(cluster, "hourly").code, "no_job") << "pods do not matter";
  cluster.unreadable = {"Events"};
  EXPECT_EQ(cause(cluster, "hourly").code, "unreadable");
  EXPECT_THAT(cause(cluster, "hourly").what, HasSubstr("could not list Events"));
}

TEST(Explanation, ARunOfAnIntervalThatIsMissingIsDueAtItsLastEnd) {
  Cluster cluster = recorded();
  cluster.events.clear();
  const auto hourly = std::find_if(cluster.cronjobs.begin(), cluster.cronjobs.end(),
                                   [](const CronJob& c) { return c.name == "hourly"; });
  hourly->schedule = "@every 1h";
  hourly->starting_deadline.reset();
  const auto minutes_ago = [&](std::int64_t n) {
    return WallTime{cluster.now.us - n * 60'000'000};
  };
  hourly->created = minutes_ago(10'025);

  hourly->last_scheduled.reset();
  EXPECT_EQ(cause(cluster, "hourly").code, "no_job") << "it never started";
  EXPECT_THAT(cause(cluster, "hourly").what, HasSubstr(rfc3339(minutes_ago(5))));
  hourly->last_scheduled = minutes_ago(30);
  EXPECT_NE(cause(cluster, "hourly").code, "no_job");
  hourly->last_scheduled = minutes_ago(90);
  EXPECT_EQ(cause(cluster, "hourly").code, "no_job");
  EXPECT_THAT(cause(cluster, "hourly").what, HasSubstr(rfc3339(minutes_ago(30))));
}

TEST(Explanation, JobThatWasNotRewrittenRunsWithoutALock) {
  Cluster cluster = recorded();
  cluster.now = parse_rfc3339("2026-11-22T06:26:10Z").value();  // no later run is due yet
  EXPECT_EQ(cause(cluster, "busy").code, "ran_ungated");
}

TEST(Explanation, EveryOutcomeHasItsCause) {
  const std::vector<std::tuple<Kind, Reason, int, std::string>> table = {
      {Kind::ran, Reason::none, 0, "succeeded"},
      {Kind::ran, Reason::none, 3, "failed"},
      {Kind::ran, Reason::ungated, 0, "ungated"},
      {Kind::skipped, Reason::done, 0, "done"},
      {Kind::busy, Reason::wait_timeout, 75, "busy"},
      {Kind::lost, Reason::revoked, 79, "lost"},
      {Kind::lost, Reason::expired, 79, "lost"},
      {Kind::store_down, Reason::unreachable, 69, "store_down"},
      {Kind::refused, Reason::auth, 77, "store_refused"},
      {Kind::refused, Reason::tls, 77, "store_refused"},
      {Kind::refused, Reason::acl, 77, "store_refused"},
      {Kind::timed_out, Reason::max_run, 124, "timed_out"},
      {Kind::interrupted, Reason::signal, 143, "interrupted"},
      {Kind::cannot_start, Reason::exec, 127, "cannot_start"},
      {Kind::usage, Reason::config, 64, "usage"}};
  for (const auto& [kind, reason, code, expected] : table) {
    OneRun run;
    run.ends(kind, reason, code);
    EXPECT_EQ(run.cause().code, expected) << name_of(kind) << ' ' << name_of(reason);
    EXPECT_FALSE(run.cause().what.empty());
  }
}

TEST(Explanation, RefusalsOfTheStoreNameTheSecret) {
  OneRun run;
  run.ends(Kind::refused, Reason::tls, 77);
  EXPECT_THAT(run.cause().next, HasSubstr("ca.crt"));
  run.ends(Kind::refused, Reason::auth, 77);
  EXPECT_THAT(run.cause().next, HasSubstr("password"));
}

TEST(Explanation, ContainerWithoutAnOutcomeWasKilled) {
  OneRun run;
  run.pod->result = RunResult{};
  run.pod->exit_code = 137;
  run.pod->end_reason = "Error";
  EXPECT_EQ(run.cause().code, "killed");
  run.pod->end_reason = "OOMKilled";
  EXPECT_EQ(run.cause().code, "oom");
  run.pod->exit_code = 3;
  run.pod->end_reason = "Error";
  EXPECT_EQ(run.cause().code, "silent");
  run.pod->reason = "Evicted";
  EXPECT_EQ(run.cause().code, "evicted");
  run.pod->reason = "DeadlineExceeded";
  EXPECT_EQ(run.cause().code, "deadline");
}

TEST(Explanation, PodThatDoesNotStartHasItsReason) {
  OneRun run;
  run.pod->ended = false;
  run.pod->result = RunResult{};
  run.pod->phase = "Pending";
  run.pod->unscheduled = "";
  EXPECT_EQ(run.cause().code, "starting");
  run.pod->waiting = "CreateContainerConfigError";
  EXPECT_EQ(run.cause().code, "waiting_container");
  run.pod->init_failed = "cronlatch-install: exit code 1 (Error)";
  EXPECT_EQ(run.cause().code, "init_failed");
  run.pod->waiting = "ImagePullBackOff";
  run.pod->waiting_container = "cronlatch-install";
  EXPECT_EQ(run.cause().code, "image");
  EXPECT_THAT(run.cause().next, HasSubstr("inject.image"));
  run.pod->unscheduled = "0/3 nodes are available";
  EXPECT_EQ(run.cause().code, "unscheduled");
}

TEST(Explanation, RunningPodHoldsItsLockOrWaitsForIt) {
  OneRun run;
  run.pod->ended = false;
  run.pod->running = true;
  EXPECT_EQ(run.cause().code, "running");
  LockStatus lock;
  lock.name = "shop/nightly";
  lock.holder = "shop/other-run";
  run.cluster.status_page = StatusPage{};
  run.cluster.status_page->locks[lock.name] = lock;
  EXPECT_EQ(run.cause().code, "waiting");
  EXPECT_THAT(run.cause().what, HasSubstr("shop/other-run"));
  run.cluster.status_page->locks["shop/nightly"].holder = "shop/" + run.pod->name;
  EXPECT_EQ(run.cause().code, "running");
}

TEST(Explanation, EachPodOfAJobWithSeveralIsListed) {
  OneRun run;
  run.ends(Kind::ran);
  Pod second = *run.pod;
  second.name = "second";
  second.ended = false;
  second.running = true;
  second.result = RunResult{};
  const auto findings = [&] {
    return explain_last_run(run.cluster, cronjob_of(run.cluster, "nightly")).findings;
  };
  const std::string first = run.pod->name;
  run.cluster.pods.push_back(second);
  EXPECT_EQ(findings().size(), 1U) << "an earlier attempt";
  run.job->has_several_pods = true;
  ASSERT_EQ(findings().size(), 2U);
  EXPECT_EQ(findings()[0].code, "succeeded");
  EXPECT_THAT(findings()[0].what, HasSubstr("pod " + first + ": "));
  EXPECT_EQ(findings()[1].code, "running");
  EXPECT_THAT(findings()[1].what, HasSubstr("pod second: "));
  run.job->failed = true;
  EXPECT_EQ(findings().size(), 3U) << "the failure of the Job is not repeated";
  run.job->failed = false;
  for (int i = 0; i < 30; ++i) run.cluster.pods.push_back(second);
  ASSERT_EQ(findings().size(), 21U);
  EXPECT_EQ(findings()[20].code, "more_pods");
  EXPECT_THAT(findings()[20].what, HasSubstr("12 older pods"));
}

TEST(Explanation, PodOfALockWithSlotsHoldsOneOrWaits) {
  OneRun run;
  run.pod->ended = false;
  run.pod->running = true;
  LockStatus lock;
  lock.name = "shop/nightly";
  lock.holder = "shop/c";
  lock.holders = {"shop/a", "shop/b", "shop/c"};
  run.cluster.status_page = StatusPage{};
  run.cluster.status_page->locks[lock.name] = lock;
  EXPECT_EQ(run.cause().code, "waiting");
  EXPECT_THAT(run.cause().what, HasSubstr("held by shop/a and 2 others"));
  run.cluster.status_page->locks[lock.name].holders[1] = "shop/" + run.pod->name;
  EXPECT_EQ(run.cause().code, "running");
}

TEST(Explanation, CronJobThatIsNotGatedOrNotCopiedIsReported) {
  OneRun run;
  for (CronJob& cronjob : run.cluster.cronjobs) cronjob.job_annotations.clear();
  const auto codes = [&] {
    std::vector<std::string> out;
    for (const RunFinding& finding :
         explain_last_run(run.cluster, cronjob_of(run.cluster, "nightly")).findings)
      out.push_back(finding.code);
    return out;
  };
  EXPECT_THAT(codes(), ::testing::Contains("not_mirrored"));
  for (CronJob& cronjob : run.cluster.cronjobs) cronjob.annotations.clear();
  EXPECT_THAT(codes(), ::testing::Contains("not_gated"));
}

TEST(Explanation, MissingCopyIsExplainedByTheEventOfItsRefusal) {
  Cluster cluster = recorded();
  for (CronJob& cronjob : cluster.cronjobs) cronjob.job_annotations.clear();
  cluster.events.push_back({"shop", "CronJob", "nightly", "NotMirrored",
                            "new Jobs do not follow the annotations: no command", true,
                            cluster.now});
  const auto findings = explain_last_run(cluster, cronjob_of(cluster, "nightly")).findings;
  const auto finding = std::find_if(findings.begin(), findings.end(), [](const RunFinding& one) {
    return one.code == "not_mirrored";
  });
  ASSERT_NE(finding, findings.end());
  EXPECT_THAT(finding->what, HasSubstr("no command"));
  EXPECT_THAT(finding->what, ::testing::Not(HasSubstr("unavailable")));
}

TEST(Explanation, DeletedJobIsReportedFromTheEventsOfTheOperator) {
  Cluster cluster = recorded();
  cluster.jobs.clear();
  cluster.pods.clear();
  for (CronJob& cronjob : cluster.cronjobs) cronjob.last_scheduled = cluster.now;
  EXPECT_EQ(cause(cluster, "nightly").code, "gone");
  cluster.events.push_back({"shop", "CronJob", "nightly", "Skipped",
                            "pod x: skipped because lock shop/nightly is held by shop/y", false,
                            cluster.now});
  EXPECT_THAT(cause(cluster, "nightly").what, HasSubstr("is held by shop/y"));
}

TEST(Explanation, NewCronJobIsNotDue) {
  Cluster cluster = recorded();
  cluster.jobs.clear();
  cluster.pods.clear();
  EXPECT_EQ(cause(cluster, "nightly").code, "not_due");
  EXPECT_THAT(cause(cluster, "nightly").what, HasSubstr("2026-11-23T01:00:00Z"));
}

TEST(Explanation, InvalidScheduleIsTheCause) {
  Cluster cluster = recorded();
  for (CronJob& cronjob : cluster.cronjobs) cronjob.schedule = "61 * * * *";
  EXPECT_EQ(cause(cluster, "nightly").code, "bad_schedule");
}

}  // namespace
}  // namespace cronlatch::plugin
