// SPDX-License-Identifier: Apache-2.0
// Running Jobs that admission would have gated, or gated differently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gated_pod.h"
#include "operator/reconcile/decide.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Json kLock{{"cronlatch.dev/lock", "true"}};
const Json kWork{"/work"};
const Json kEarlier = "2026-11-21T01:00:00Z";
const Json kCreated = "2026-11-21T02:00:00Z";
const Json kLater = "2026-11-21T03:00:00Z";
constexpr WallTime kInstallTime{1'795'132'800'000'000};  // 2026-11-20

Json gate(const std::string& lock = "demo/nightly") {
  return {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=" + lock, "--", "/work"};
}

Json container(const std::string& name, const Json& command, const Json& args = Json::array()) {
  return {{"name", name}, {"image", "x"}, {"command", command}, {"args", args}};
}

// Job nightly-2 of CronJob nightly, created at kCreated.
Json job(const Json& annotations, const Json& command, const Json& args = Json::array()) {
  return {{"metadata",
           {{"namespace", "demo"},
            {"name", "nightly-2"},
            {"uid", "job-uid"},
            {"creationTimestamp", kCreated},
            {"ownerReferences", testing::owned_by("CronJob", "nightly", "cronjob-uid")},
            {"annotations", annotations}}},
          {"spec",
           {{"template",
             {{"spec", {{"containers", Json::array({container("main", command, args)})}}}}}}}};
}

// An entry of metadata.managedFields as the API server writes it.
Json entry(const char* manager, const Json& time, const Json& fields) {
  return {{"manager", manager}, {"operation", "Update"}, {"time", time}, {"fieldsV1", fields}};
}
const Json kOwnsLock{{"f:annotations", {{"f:cronlatch.dev/lock", Json::object()}}}};
const Json kOwnsTemplate{{"f:template", Json::object()}};

Json cronjob(const Json& annotations, const Json& annotated_at) {
  return {{"metadata",
           {{"namespace", "demo"},
            {"name", "nightly"},
            {"uid", "cronjob-uid"},
            {"annotations", annotations},
            {"managedFields",
             Json::array({entry("kubectl-annotate", annotated_at, {{"f:metadata", kOwnsLock}})})}}},
          {"spec",
           {{"jobTemplate",
             {{"spec",
               {{"template",
                 {{"spec", {{"containers", Json::array({container("main", kWork)})}}}}}}}}}}}};
}

Settings settings() {
  Settings out;
  out.image = "registry/cronlatch:1";
  out.store = "rediss://redis.example";
  return out;
}

Settings selecting() {
  Settings out = settings();
  out.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  return out;
}

std::vector<Decision> decided(const Json& object, const Json& of_cronjob = nullptr,
                              const Settings& with = settings(),
                              const EnforcementTimes& enforcement = {kInstallTime, kInstallTime,
                                                                     ""}) {
  const auto demand = of_cronjob.is_null() ? std::nullopt : decide_cronjob(of_cronjob, with).demand;
  return decide_job(object, demand ? &*demand : nullptr, with, enforcement);
}

// The note of the Event for a bypass; "" for none.
template <class... Rest>
std::string bypass(const Rest&... rest) {
  const auto decisions = decided(rest...);
  if (decisions.empty()) return "";
  EXPECT_TRUE(std::holds_alternative<CountUngatedJob>(decisions.back()));
  return std::get<kube::Event>(decisions.front()).note;
}

TEST(DecideJob, ReportsAJobThatRequestsALockAndRunsWithout) {
  EXPECT_THAT(bypass(job(kLock, kWork)), HasSubstr("container \"main\" is not gated"));
  EXPECT_EQ(bypass(job(kLock, gate())), "");
  EXPECT_EQ(bypass(job({{"cronlatch.dev/lock", "false"}}, kWork)), "");
  EXPECT_EQ(bypass(job(Json::object(), kWork)), "");
  EXPECT_EQ(bypass(job(nullptr, kWork)), "");
  Json over = job(kLock, kWork);
  over["status"]["conditions"] = {{{"type", "Complete"}, {"status", "True"}}};
  EXPECT_EQ(bypass(over), "");
}

TEST(DecideJob, ChecksTheSelectedContainerOnly) {
  Json two = job({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/container", "main"}}, kWork);
  Json& containers = two["spec"]["template"]["spec"]["containers"];
  containers.push_back(container("side", gate()));
  EXPECT_THAT(bypass(two), HasSubstr("container \"main\" is not gated"));
  containers[0]["command"] = gate();
  EXPECT_EQ(bypass(two), "");
}

TEST(DecideJob, ChecksTheCommandAsThePolicyDoes) {
  EXPECT_THAT(bypass(job(kLock, {"/cronlatch-bin/cronlatch", "run", "--", "/work"})),
              HasSubstr("is not gated"));
  EXPECT_THAT(bypass(job(kLock, {"/cronlatch-bin/cronlatch", "explain", "--isolated", "--"})),
              HasSubstr("is not gated"));
  EXPECT_THAT(bypass(job(kLock, {"sh", "-c", "/work", "/cronlatch-bin/cronlatch", "run",
                                 "--isolated", "--lock=demo/nightly", "--"})),
              HasSubstr("is not gated"));
}

TEST(DecideJob, AGateWithAnotherLockIsABypass) {
  EXPECT_THAT(bypass(job(kLock, gate("demo/other"))),
              HasSubstr("does not take lock \"demo/nightly\""));
  EXPECT_EQ(bypass(job({{"cronlatch.dev/lock", "other"}}, gate("demo/other"))), "");
}

TEST(DecideJob, AcceptsAGateBehindTheProgramOfAnotherWebhook) {
  EXPECT_EQ(bypass(job(kLock, {"/vault/vault-env"}, gate())), "");
  Json in_command = gate();
  in_command.insert(in_command.begin(), "/vault/vault-env");
  EXPECT_EQ(bypass(job(kLock, in_command)), "");
}

TEST(DecideJob, FindsTheLockOnThePodTemplate) {
  Json object = job(nullptr, kWork);
  object["spec"]["template"]["metadata"]["annotations"] = kLock;
  EXPECT_THAT(bypass(object), HasSubstr("container \"main\" is not gated"));
}

TEST(DecideJob, FindsTheLockOnACronJobWithoutCopies) {
  EXPECT_THAT(bypass(job(nullptr, kWork), cronjob(kLock, kEarlier)),
              HasSubstr("its CronJob nightly requests a lock"));
  EXPECT_EQ(bypass(job(nullptr, gate()), cronjob(kLock, kEarlier)), "");
  EXPECT_EQ(bypass(job(nullptr, kWork), cronjob(nullptr, kEarlier)), "");
  EXPECT_EQ(bypass(job({{"cronlatch.dev/lock", "false"}}, kWork), cronjob(kLock, kEarlier)), "");
}

TEST(DecideJob, FindsTheLockInSelect) {
  const Json plain = cronjob(nullptr, kEarlier);
  EXPECT_THAT(bypass(job(nullptr, kWork), plain, selecting()),
              HasSubstr("its CronJob nightly requests a lock"));
  EXPECT_EQ(bypass(job(nullptr, gate()), plain, selecting()), "");
}

TEST(DecideJob, AnAnnotationAfterTheCreationIsNoBypass) {
  const auto annotated_by = [](const Json& one, const Json& other) {
    Json object = job(kLock, kWork);
    object["metadata"]["managedFields"] = {one, other};
    return object;
  };
  const Json created = entry("kubectl-create", kCreated, {{"f:spec", kOwnsTemplate}});
  EXPECT_EQ(
      bypass(annotated_by(created, entry("kubectl-annotate", kLater, {{"f:metadata", kOwnsLock}}))),
      "");
  // In the second of its creation, but not by the request that created it.
  EXPECT_EQ(bypass(annotated_by(created,
                                entry("kubectl-annotate", kCreated, {{"f:metadata", kOwnsLock}}))),
            "");
  // By the client that created it.
  EXPECT_EQ(bypass(annotated_by(entry("kubectl-client-side-apply", kLater,
                                      {{"f:spec", kOwnsTemplate}, {"f:metadata", kOwnsLock}}),
                                nullptr)),
            "");

  EXPECT_NE(bypass(annotated_by(entry("kube-controller-manager", kCreated,
                                      {{"f:spec", kOwnsTemplate}, {"f:metadata", kOwnsLock}}),
                                entry("kubectl-annotate", kLater, {{"f:metadata", kOwnsLock}}))),
            "");
  // An annotation of another webhook belongs to no entry.
  EXPECT_NE(bypass(annotated_by(created, nullptr)), "");
}

TEST(DecideJob, AnAnnotationAfterTheCreationDoesNotSelectTheContainer) {
  Json object = job({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/container", "side"}}, gate());
  object["metadata"]["managedFields"] = {entry(
      "kubectl-annotate", kLater,
      {{"f:metadata", {{"f:annotations", {{"f:cronlatch.dev/container", Json::object()}}}}}})};
  EXPECT_EQ(bypass(object), "");
}

TEST(DecideJob, ACronJobAnnotationAfterTheCreationIsNoBypass) {
  EXPECT_EQ(bypass(job(nullptr, kWork), cronjob(kLock, kLater)), "");
  EXPECT_EQ(bypass(job(nullptr, kWork), cronjob(kLock, kCreated)), "");
}

TEST(DecideJob, ASelectRuleAfterTheCreationIsNoBypass) {
  constexpr WallTime kAfter{1'795'233'600'000'000};  // 2026-11-21T04:00:00Z
  EXPECT_EQ(bypass(job(nullptr, kWork), cronjob(nullptr, kLater), selecting(),
                   EnforcementTimes{kInstallTime, kAfter, ""}),
            "");
}

TEST(DecideJob, AJobFromBeforeTheInstallationIsNoBypass) {
  Json object = job(kLock, kWork);
  object["metadata"]["creationTimestamp"] = "2026-11-19T00:00:00Z";
  EXPECT_EQ(bypass(object), "");
  EXPECT_EQ(bypass(object, cronjob(kLock, "2026-11-18T00:00:00Z")), "");
}

TEST(DecideJob, AGatedJobWithInvalidAnnotationsIsNoBypass) {
  EXPECT_EQ(bypass(job({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/ttl", "soon"}}, gate())),
            "");
  EXPECT_THAT(bypass(job({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/ttl", "soon"}}, kWork)),
              HasSubstr("none of its containers is gated"));
}

}  // namespace
}  // namespace cronlatch::op
