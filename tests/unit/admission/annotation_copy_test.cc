// SPDX-License-Identifier: Apache-2.0
// The use by the reconciler; tests/golden has the use by the admission hook.
#include "admission/annotation_copy.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;
using Texts = std::map<std::string, std::string>;

Settings platform() {
  Settings settings;
  settings.image = "cronlatch:1";
  settings.store = "redis://redis:6379";
  return settings;
}

Json cronjob(const Texts& own, const Texts& of_template) {
  return {{"metadata", {{"namespace", "demo"}, {"name", "nightly"}, {"annotations", own}}},
          {"spec", {{"jobTemplate", {{"metadata", {{"annotations", of_template}}}}}}}};
}

const Texts kLock = {{"cronlatch.dev/lock", "true"}};
const Texts kCopied = {{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/mirrored", "lock"}};

TEST(AnnotationCopy, ListsTheWantedAndTheMissingAnnotations) {
  const Result<AnnotationCopy> fresh =
      plan_annotation_copy(cronjob(kLock, {}), nullptr, platform());
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE(fresh->gated);
  EXPECT_EQ(fresh->wanted, kCopied);
  EXPECT_EQ(fresh->set, kCopied);
  EXPECT_FALSE(fresh->is_up_to_date());

  const Result<AnnotationCopy> done =
      plan_annotation_copy(cronjob(kLock, kCopied), nullptr, platform());
  EXPECT_EQ(done->wanted, kCopied);
  EXPECT_TRUE(done->is_up_to_date());
}

TEST(AnnotationCopy, RemovesCopiesWithoutASourceByTheirList) {
  const Result<AnnotationCopy> late =
      plan_annotation_copy(cronjob({}, kCopied), nullptr, platform());
  ASSERT_TRUE(late.ok());
  EXPECT_FALSE(late->gated);
  EXPECT_TRUE(late->wanted.empty());
  EXPECT_EQ(late->remove,
            (std::vector<std::string>{"cronlatch.dev/lock", "cronlatch.dev/mirrored"}));
}

TEST(AnnotationCopy, KeepsAnnotationsThatTheUserWrote) {
  const Result<AnnotationCopy> native =
      plan_annotation_copy(cronjob({}, kLock), nullptr, platform());
  ASSERT_TRUE(native.ok());
  EXPECT_TRUE(native->gated);
  EXPECT_TRUE(native->wanted.empty());
  EXPECT_TRUE(native->is_up_to_date());
}

TEST(AnnotationCopy, AnEditedCopyBelongsToTheUser) {
  Json before = cronjob(kLock, kCopied);
  before["spec"]["concurrencyPolicy"] = "Replace";
  Texts copies = plan_annotation_copy(before, nullptr, platform())->wanted;
  before["spec"]["jobTemplate"]["metadata"]["annotations"] = copies;
  Json after = before;
  after["spec"]["jobTemplate"]["metadata"]["annotations"]["cronlatch.dev/on-busy"] = "fail";

  const Result<AnnotationCopy> edited = plan_annotation_copy(after, &before, platform());

  ASSERT_TRUE(edited.ok()) << edited.error().message;
  EXPECT_EQ(edited->set.count("cronlatch.dev/on-busy"), 0U);
  EXPECT_EQ(edited->wanted.at("cronlatch.dev/mirrored"), "lock");
  EXPECT_EQ(edited->remove, std::vector<std::string>{"cronlatch.dev/wait-timeout"});
}

// The object after the change that was planned, as the API server stores it.
Json changed(Json cronjob, const AnnotationCopy& copy) {
  Json& annotations = cronjob["spec"]["jobTemplate"]["metadata"]["annotations"];
  for (const auto& [name, value] : copy.set) annotations[name] = value;
  for (const std::string& name : copy.remove) annotations.erase(name);
  return cronjob;
}

Json with_replace(Json cronjob) {
  cronjob["spec"]["concurrencyPolicy"] = "Replace";
  return cronjob;
}

// Server-side apply: the manifest of another manager has the key in the Job template.
Json managed(Json cronjob, const std::string& key) {
  const Json annotations = {{"f:cronlatch.dev/" + key, Json::object()}};
  const Json fields = {
      {"f:spec", {{"f:jobTemplate", {{"f:metadata", {{"f:annotations", annotations}}}}}}}};
  cronjob["metadata"]["managedFields"].push_back(
      {{"manager", "argocd"}, {"operation", "Apply"}, {"fieldsV1", fields}});
  return cronjob;
}

// Client-side apply: the manifest that kubectl applied last.
Json last_applied(Json object, const Texts& of_template) {
  object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
      kube::to_text(cronjob({}, of_template));
  return object;
}

// A manifest names a key that the object lacks: it was removed with `kubectl edit`, or the object
// was created from an export. The key is copied, because the Job would otherwise lack it.
TEST(AnnotationCopy, AMissingKeyOfAManifestIsCopiedOnceAndThenTheUsersOwn) {
  const Json source = cronjob({{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/ttl", "5m"}}, {});
  const std::string lock = "cronlatch.dev/lock", mark = "cronlatch.dev/mirrored";
  for (const Json& object : {managed(source, "lock"), last_applied(source, kLock)}) {
    const Result<AnnotationCopy> first = plan_annotation_copy(object, nullptr, platform());
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(first->set.at(lock), "true");
    EXPECT_EQ(first->set.at(mark), "ttl");

    const Result<AnnotationCopy> second =
        plan_annotation_copy(changed(object, *first), nullptr, platform());
    ASSERT_TRUE(second.ok()) << second.error().message;
    EXPECT_TRUE(second->gated);
    EXPECT_TRUE(second->is_up_to_date());
  }
}

TEST(AnnotationCopy, IsIdempotentForEachKeyOfAManifestThatTheObjectLacks) {
  Settings selecting = platform();
  selecting.select = {{"demo", "night*", {}, {{"lock", "true"}, {"ttl", "5m"}}}};
  const Texts mine = {{"cronlatch.dev/lock", "true"}, {"cronlatch.dev/wait-timeout", "3m"}};
  const Texts copies = {{"cronlatch.dev/lock", "true"},
                        {"cronlatch.dev/on-busy", "wait"},
                        {"cronlatch.dev/wait-timeout", "4m"},
                        {"cronlatch.dev/mirrored", "lock,on-busy,wait-timeout"}};
  int changes = 0;
  for (const Settings& settings : {platform(), selecting})
    for (const Texts& own : {Texts{}, kLock, mine})
      for (const Texts& of_template : {Texts{}, kCopied, copies})
        for (const bool replace : {false, true})
          for (unsigned keys = 0; keys < 16; ++keys) {
            Json object = cronjob(own, of_template);
            if (replace) object = with_replace(object);
            const std::string names[] = {"lock", "ttl", "on-busy", "wait-timeout"};
            for (unsigned i = 0; i < 4; ++i)
              if ((keys >> i & 1U) != 0) object = managed(object, names[i]);
            const Result<AnnotationCopy> first = plan_annotation_copy(object, nullptr, settings);
            if (!first.ok()) continue;  // the manifest contradicts the CronJob's annotations
            changes += first->is_up_to_date() ? 0 : 1;
            const Json after = changed(object, *first);
            const Result<AnnotationCopy> second = plan_annotation_copy(after, nullptr, settings);
            ASSERT_TRUE(second.ok()) << second.error().message << object.dump(1) << after.dump(1);
            EXPECT_TRUE(second->is_up_to_date()) << object.dump(1) << after.dump(1);
            EXPECT_EQ(second->gated, first->gated) << object.dump(1);
          }
  EXPECT_GT(changes, 200);
}

TEST(AnnotationCopy, ReportsEveryError) {
  const Result<AnnotationCopy> wrong =
      plan_annotation_copy(cronjob({{"cronlatch.dev/lock", "yes"}, {"cronlatch.dev/ttl", "5"}}, {}),
                           nullptr, platform());
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("metadata.annotations[cronlatch.dev/lock]"),
            std::string::npos);
  EXPECT_NE(wrong.error().message.find("metadata.annotations[cronlatch.dev/ttl]"),
            std::string::npos);
}

}  // namespace
}  // namespace cronlatch::op
