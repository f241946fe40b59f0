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
    return string_at(to_request(e, "pod", {now}).body, {"metadata", "name"});
  };

  EXPECT_EQ(name(event, 1), name(event, 2));
  EXPECT_NE(name(event, 1), name(other, 1));
  EXPECT_TRUE(name(event, 1).starts_with("nightly."));
}

TEST(Events, CutALongNoteBetweenCharacters) {
  std::string note(1'023, 'x');
  note += "ä";
  const auto request = to_request(
      {.regarding = kCronJob, .identity = "", .reason = "Lost", .action = "Run", .note = note},
      std::string(500, 'p'), {0});

  EXPECT_EQ(string_at(request.body, {"note"}), std::string(1'023, 'x'));
  EXPECT_EQ(string_at(request.body, {"reportingInstance"}).size(), 128U);
  EXPECT_EQ(request.path, "/apis/events.k8s.io/v1/namespaces/demo/events");
}

}  // namespace
}  // namespace cronlatch::kube
