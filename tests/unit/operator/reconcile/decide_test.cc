// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

Json cronjob(Json annotations, Json copied = Json::object()) {
  return {{"metadata",
           {{"namespace", "demo"},
            {"name", "nightly"},
            {"uid", "cronjob-uid"},
            {"resourceVersion", "77"},
            {"annotations", std::move(annotations)}}},
          {"spec",
           {{"schedule", "0 2 * * *"},
            {"jobTemplate",
             {{"metadata", {{"annotations", std::move(copied)}}},
              {"spec",
               {{"template",
                 {{"spec",
                   {{"restartPolicy", "Never"},
                    {"containers",
                     {{{"name", "main"}, {"image", "x"}, {"command", {"true"}}}}}}}}}}}}}}}};
}

Json& copies(Json& object) { return object["spec"]["jobTemplate"]["metadata"]["annotations"]; }

Settings settings() {
  Settings out;
  out.image = "registry/cronlatch:1";
  out.store = "rediss://redis.example";
  return out;
}

template <class T>
const T* first(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions)
    if (const T* found = std::get_if<T>(&decision)) return found;
  return nullptr;
}

// The cronjob after its patch, as the API server would keep it.
Json patched(Json object, const PatchCronJob& patch) {
  Json body = patch.request.body;
  body["metadata"].erase("resourceVersion");
  object.merge_patch(body);
  return object;
}

TEST(DecideCronJob, ReturnsNoScheduleWhileTheCronJobIsSuspended) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/alert-after", "26h"}});
  object["spec"]["timeZone"] = "Europe/Berlin";
  object["spec"]["suspend"] = true;
  EXPECT_EQ(decide_cronjob(object, settings()).gated->schedule, "");

  object["spec"]["suspend"] = false;
  EXPECT_EQ(decide_cronjob(object, settings()).gated->alert_after, Millis(26 * 3'600'000));
  EXPECT_EQ(decide_cronjob(object, settings()).gated->schedule, "0 2 * * *");
  EXPECT_EQ(decide_cronjob(object, settings()).gated->time_zone, "Europe/Berlin");
}

TEST(DecideCronJob, ReturnsTheScheduleUnlessTheAnnotationIsOff) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  EXPECT_EQ(decide_cronjob(object, settings()).gated->schedule, "0 2 * * *");
  EXPECT_EQ(decide_cronjob(object, settings()).gated->alert_after, Millis(0));

  object["metadata"]["annotations"]["cronlatch.dev/alert-after"] = "off";
  ASSERT_TRUE(decide_cronjob(object, settings()).gated.has_value());
  EXPECT_EQ(decide_cronjob(object, settings()).gated->schedule, "");
}

TEST(DecideCronJob, ReadsTheTimeOfAResumptionFromManagedFields) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  const auto entry = [](const char* time, Json spec) {
    return Json{{"time", time}, {"fieldsV1", {{"f:spec", std::move(spec)}}}};
  };
  const Json empty = Json::object();
  // The first one applies the whole object: its time may be that of another field.
  object["metadata"]["managedFields"] = {
      entry("2026-11-22T10:00:00Z", {{"f:suspend", empty}, {"f:schedule", empty}}),
      entry("2026-11-20T10:00:00Z", {{"f:suspend", empty}}),
      entry("2026-11-21T10:00:00Z", {{"f:suspend", empty}})};

  EXPECT_EQ(decide_cronjob(object, settings()).gated->resumed, WallTime{1'795'255'200'000'000});
}

TEST(DecideCronJob, ReadsTheTimeOfAnAnnotationFromManagedFields) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  const Json annotations = {
      {"f:metadata", {{"f:annotations", {{"f:cronlatch.dev/lock", Json::object()}}}}}};
  const auto entry = [&](const char* time, Json spec) {
    Json fields = annotations;
    if (!spec.is_null()) fields["f:spec"] = std::move(spec);
    return Json{{"time", time}, {"fieldsV1", std::move(fields)}};
  };
  const Json of_others = {{"time", "2026-01-01T00:00:00Z"},
                          {"fieldsV1", {{"f:spec", {{"f:schedule", Json::object()}}}}}};
  const auto gated = [&](Json entries) {
    object["metadata"]["managedFields"] = std::move(entries);
    return decide_cronjob(object, settings()).gated->gated;
  };

  // kubectl annotate, without and with the copies of the webhook.
  EXPECT_EQ(gated({of_others, entry("2026-11-21T10:00:00Z", nullptr)}),
            WallTime{1'795'255'200'000'000});
  EXPECT_EQ(gated({of_others, entry("2026-11-21T10:00:00Z", {{"f:jobTemplate", annotations}})}),
            WallTime{1'795'255'200'000'000});
  // A client that also writes another annotation, perhaps every hour.
  Json with_another = entry("2026-11-21T10:00:00Z", nullptr);
  with_another["fieldsV1"]["f:metadata"]["f:annotations"]["f:build"] = Json::object();
  EXPECT_EQ(gated(Json::array({with_another})), WallTime{});
  // A client that applies the whole object: the annotation may be older than the last change.
  EXPECT_EQ(gated({entry("2026-11-21T10:00:00Z", nullptr),
                   entry("2026-11-22T10:00:00Z",
                         {{"f:schedule", Json::object()}, {"f:jobTemplate", annotations}})}),
            WallTime{});
  EXPECT_EQ(gated(Json::array()), WallTime{});
}

TEST(DecideCronJob, ReturnsLockAndDeadlineBeforeAndAfterTheCopy) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/alert-after", "26h"}});
  object["metadata"]["creationTimestamp"] = "2026-11-21T02:00:00Z";
  const GatedCronJob is_enabled{"demo/nightly", Millis(26 * 3'600'000),
                                WallTime{1'795'226'400'000'000}, "0 2 * * *"};

  const CronJobVerdict before = decide_cronjob(object, settings());
  ASSERT_NE(first<PatchCronJob>(before.decisions), nullptr);
  const CronJobVerdict after =
      decide_cronjob(patched(object, *first<PatchCronJob>(before.decisions)), settings());

  EXPECT_EQ(before.gated, is_enabled);
  EXPECT_EQ(after.state, CronJobState::gated);
  EXPECT_EQ(after.gated, is_enabled);
}

TEST(DecideCronJob, ReturnsTheNameOfASharedLock) {
  const Json object = cronjob({{"cronlatch.dev/lock", "reports"}});

  EXPECT_EQ(decide_cronjob(object, settings()).gated->lock, "demo/reports");
  EXPECT_FALSE(
      decide_cronjob(cronjob({{"cronlatch.dev/lock", "false"}}), settings()).gated.has_value());
  EXPECT_FALSE(
      decide_cronjob(cronjob({{"cronlatch.dev/lock", "a b"}}), settings()).gated.has_value());
}

TEST(DecideCronJob, AppliesOnlyMissingAnnotations) {
  const Json object = cronjob({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/ttl", "1m"}});

  const CronJobVerdict verdict = decide_cronjob(object, settings());

  EXPECT_EQ(verdict.state, CronJobState::pending);
  const auto* patch = first<PatchCronJob>(verdict.decisions);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->request.patch_type, kube::PatchType::apply);
  EXPECT_EQ(patch->request.path, "/apis/batch/v1/namespaces/demo/cronjobs/nightly");
  EXPECT_THAT(patch->request.query, Contains(Pair("fieldManager", "cronlatch")));
  EXPECT_EQ(string_at(patch->request.body, {"metadata", "resourceVersion"}), "77");
  EXPECT_EQ(patch->request.body.at("spec").size(), 1U);
  EXPECT_EQ(patch->request.body.at("spec").at("jobTemplate").size(), 1U);
  for (const auto& [key, value] : copies(const_cast<Json&>(patch->request.body)).items())
    EXPECT_TRUE(key.starts_with("cronlatch.dev/")) << key;
  const auto* event = first<kube::Event>(verdict.decisions);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->reason, "Mirrored");
}

TEST(DecideCronJob, DecidesNothingAfterItsOwnPatch) {
  const Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  const auto before = decide_cronjob(object, settings());
  const auto* patch = first<PatchCronJob>(before.decisions);
  ASSERT_NE(patch, nullptr);
  const CronJobVerdict after = decide_cronjob(patched(object, *patch), settings());
  EXPECT_EQ(after.state, CronJobState::gated);
  EXPECT_THAT(after.decisions, IsEmpty());
}

TEST(DecideCronJob, RemovesCopiesOfARemovedAnnotation) {
  const Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  const auto mirrored = decide_cronjob(object, settings());
  Json schedule_retry = patched(object, *first<PatchCronJob>(mirrored.decisions));
  schedule_retry["metadata"]["annotations"] = Json::object();
  copies(schedule_retry)["theirs.example/key"] = "kept";

  const CronJobVerdict verdict = decide_cronjob(schedule_retry, settings());

  const auto* patch = first<PatchCronJob>(verdict.decisions);
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->request.patch_type, kube::PatchType::merge);
  Json after = patched(schedule_retry, *patch);
  EXPECT_EQ(copies(after), Json({{"theirs.example/key", "kept"}}));
  EXPECT_EQ(decide_cronjob(after, settings()).state, CronJobState::ungated);
}

TEST(DecideCronJob, IgnoresACronJobWithoutAnnotations) {
  EXPECT_THAT(decide_cronjob(cronjob(Json::object()), settings()).decisions, IsEmpty());
  Json bare = cronjob(Json::object());
  bare["metadata"].erase("annotations");
  bare["spec"]["jobTemplate"].erase("metadata");
  EXPECT_THAT(decide_cronjob(bare, settings()).decisions, IsEmpty());
}

TEST(DecideCronJob, KeepsAnnotationsOfTheUserInTheTemplate) {
  const Json object = cronjob(Json::object(), {{"cronlatch.dev/lock", "true"}});

  const CronJobVerdict verdict = decide_cronjob(object, settings());

  EXPECT_EQ(verdict.state, CronJobState::gated);
  EXPECT_THAT(verdict.decisions, IsEmpty());
}

TEST(DecideCronJob, ReportsInvalidAnnotationsAndPatchesNothing) {
  const CronJobVerdict verdict =
      decide_cronjob(cronjob({{"cronlatch.dev/lock", "yes"}}), settings());

  EXPECT_EQ(verdict.state, CronJobState::invalid);
  EXPECT_EQ(first<PatchCronJob>(verdict.decisions), nullptr);
  const auto* event = first<kube::Event>(verdict.decisions);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->reason, "InvalidAnnotations");
  EXPECT_EQ(event->type, kube::EventType::warning);
  EXPECT_THAT(event->note, HasSubstr("cronlatch.dev/lock"));
}

TEST(DecideCronJob, OnlyReportsWhenPatchesAreDisabled) {
  Settings observing = settings();
  observing.patch_cronjobs = false;

  const CronJobVerdict verdict =
      decide_cronjob(cronjob({{"cronlatch.dev/lock", "true"}}), observing);

  EXPECT_EQ(verdict.state, CronJobState::pending);
  EXPECT_EQ(first<PatchCronJob>(verdict.decisions), nullptr);
  EXPECT_EQ(first<kube::Event>(verdict.decisions)->reason, "NotMirrored");
}

TEST(DecideCronJob, TreatsSelectAsAnnotations) {
  Settings selecting = settings();
  selecting.select.push_back({.namespace_name = "demo",
                              .name = "night*",
                              .labels = {},
                              .annotations = {{"lock", "true"}}});

  const CronJobVerdict verdict = decide_cronjob(cronjob(Json::object()), selecting);

  ASSERT_NE(first<PatchCronJob>(verdict.decisions), nullptr);
}

TEST(DecideCronJob, IgnoresACronJobThatIsBeingDeleted) {
  Json object = cronjob({{"cronlatch.dev/lock", "true"}});
  object["metadata"]["deletionTimestamp"] = "2026-11-21T02:00:00Z";
  EXPECT_THAT(decide_cronjob(object, settings()).decisions, IsEmpty());
}

}  // namespace
}  // namespace cronlatch::op
