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
