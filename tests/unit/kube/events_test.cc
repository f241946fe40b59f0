// SPDX-License-Identifier: Apache-2.0
#include "kube/events.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

const ObjectRef kCronJob{"batch/v1", "CronJob", "demo", "nightly", "cronjob-uid"};

TEST(Events, HaveANameThatIsDerivedFromTheirIdentity) {
  const Event event{.regarding = kCronJob,
                    .identity = "pod-uid",
                    .reason = "Skipped",
                    .action = "Run",
                    .note = "n"};
  Event other = event;
  other.identity = "another pod";
  const auto name = [](const Event& e, std::int64_t now) {
    return string_at(to_request(e, event_name(e), 1, "pod", {now}).body, {"metadata", "name"});
  };

  EXPECT_EQ(name(event, 1), name(event, 2));
  EXPECT_NE(name(event, 1), name(other, 1));
  EXPECT_TRUE(name(event, 1).starts_with("nightly."));
}

TEST(Events, CutALongNoteBetweenCharacters) {
  std::string note(1'023, 'x');
  note += "ä";
  const auto request = to_request(
      {.regarding = kCronJob, .identity = "", .reason = "Lost", .action = "Run", .note = note}, "n",
      1, std::string(500, 'p'), {0});

  EXPECT_EQ(string_at(request.body, {"note"}), std::string(1'023, 'x'));
  EXPECT_EQ(string_at(request.body, {"reportingInstance"}).size(), 128U);
  EXPECT_EQ(request.path, "/apis/events.k8s.io/v1/namespaces/demo/events");
}

TEST(Events, HaveASeriesFromTheSecondOccurrence) {
  const Event event{
      .regarding = kCronJob, .identity = "p", .reason = "Skipped", .action = "Run", .note = "n"};

  EXPECT_FALSE(to_request(event, "n", 1, "pod", {0}).body.contains("series"));
  EXPECT_EQ(number_at(to_request(event, "n", 3, "pod", {0}).body, {"series", "count"}), 3);
}

TEST(Events, ReplaceTheNoteAndTheCountOfAnEventThatExists) {
  const Event event{.regarding = kCronJob,
                    .related = {"v1", "Pod", "demo", "nightly-2", "pod-uid"},
                    .identity = "pod-uid",
                    .reason = "Skipped",
                    .action = "Run",
                    .note = std::string(2'000, 'x')};

  const Request request = to_repetition(event, "nightly.1", 7, {1'000'000});

  EXPECT_EQ(request.method, Method::patch);
  EXPECT_EQ(request.patch_type, PatchType::merge);
  EXPECT_EQ(request.path, "/api/v1/namespaces/demo/events/nightly.1");
  EXPECT_EQ(string_at(request.body, {"message"}).size(), 1'024U);
  EXPECT_EQ(number_at(request.body, {"series", "count"}), 7);
  EXPECT_EQ(string_at(request.body, {"series", "lastObservedTime"}), "1970-01-01T00:00:01.000000Z");
  EXPECT_EQ(string_at(request.body, {"related", "uid"}), "pod-uid");
}

}  // namespace
}  // namespace cronlatch::kube
