// SPDX-License-Identifier: Apache-2.0
#include "operator/store_switch_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Scene {
  bool leading = true;
  ApplyResult answer = ApplyResult::done;
  std::vector<kube::Event> recorded;
  StoreSwitchEvent event{{{"v1", "Pod", "cronlatch", "operator-a", "uid-a"},
                          [this] { return leading; },
                          [this](const kube::Event& one) {
                            recorded.push_back(one);
                            return answer;
                          }}};
};

ServerSwitch switched_at(std::int64_t us) {
  return {"redis-0.test:6379", "redis-1.test:6379", WallTime{us}};
}

TEST(StoreSwitchEvent, NamesBothServersOnThePodOfTheOperator) {
  Scene scene;
  scene.event.update(std::nullopt);
  scene.event.update(switched_at(1));
  scene.event.update(std::nullopt);

  ASSERT_THAT(scene.recorded, SizeIs(1));
  const kube::Event& event = scene.recorded[0];
  EXPECT_EQ(event.regarding.kind, "Pod");
  EXPECT_EQ(event.regarding.uid, "uid-a");
  EXPECT_EQ(event.reason, "StoreSwitched");
  EXPECT_EQ(event.type, kube::EventType::warning);
  EXPECT_THAT(event.note, HasSubstr("redis-1.test:6379 (before: redis-0.test:6379)"));
}

// The count of an Event rises with each occurrence, so each one has an identity of its own.
TEST(StoreSwitchEvent, OfAnotherTimeHasAnotherIdentity) {
  Scene scene;
  scene.event.update(switched_at(1));
  scene.event.update(switched_at(2));
  ASSERT_THAT(scene.recorded, SizeIs(2));
  EXPECT_NE(scene.recorded[0].identity, scene.recorded[1].identity);
}

TEST(StoreSwitchEvent, IsRetriedWithTheSameIdentity) {
  Scene scene;
  scene.answer = ApplyResult::retry;
  scene.event.update(switched_at(1));
  scene.event.update(std::nullopt);
  scene.answer = ApplyResult::done;
  scene.event.update(std::nullopt);
  scene.event.update(std::nullopt);
  ASSERT_THAT(scene.recorded, SizeIs(3));
  for (const kube::Event& event : scene.recorded)
    EXPECT_EQ(event.identity, scene.recorded[0].identity);
}

TEST(StoreSwitchEvent, IsRecordedByTheLeaderOnly) {
  Scene scene;
  scene.leading = false;
  scene.event.update(switched_at(1));
  scene.leading = true;
  scene.event.update(std::nullopt);
  EXPECT_THAT(scene.recorded, IsEmpty());
}

}  // namespace
}  // namespace cronlatch::op
