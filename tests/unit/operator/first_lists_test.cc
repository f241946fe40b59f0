// SPDX-License-Identifier: Apache-2.0
#include "operator/first_lists.h"

#include <gtest/gtest.h>

#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

constexpr bool kForbidden = true;

TEST(FirstLists, AreCompleteWhenEachCollectionOfTheKindWasListed) {
  FirstLists lists;
  lists.expect(ObjectKind::cronjob, 2);
  lists.expect(ObjectKind::job, 1);

  EXPECT_FALSE(lists.listed(ObjectKind::cronjob, true));
  EXPECT_FALSE(lists.listed(ObjectKind::cronjob, false)) << "the same collection again";
  EXPECT_TRUE(lists.listed(ObjectKind::job, true));
  EXPECT_TRUE(lists.listed(ObjectKind::cronjob, true));
  EXPECT_TRUE(lists.listed(ObjectKind::cronjob, false));

  lists.expect(ObjectKind::cronjob, 1);  // the next term
  EXPECT_TRUE(lists.listed(ObjectKind::cronjob, true));
}

TEST(FirstList, IsGivenUpWhenTheRightToItIsDeniedForAMinute) {
  FirstLists lists;
  lists.expect(ObjectKind::pod, 2);
  cronlatch::testing::HandClock clock;
  FirstList shop(lists, ObjectKind::pod, clock), deleted(lists, ObjectKind::pod, clock);
  EXPECT_FALSE(shop.listed());

  EXPECT_FALSE(deleted.failed(kForbidden));
  clock.pass(Seconds(59));
  EXPECT_FALSE(deleted.failed(kForbidden));
  clock.pass(Seconds(1));
  ASSERT_TRUE(deleted.failed(kForbidden));
  EXPECT_TRUE(deleted.listed());

  EXPECT_FALSE(deleted.failed(kForbidden)) << "it was given up before";
  EXPECT_TRUE(deleted.listed()) << "its namespace was created again";
}

TEST(FirstList, IsNotGivenUpForDenialsWithAnotherErrorBetweenThem) {
  FirstLists lists;
  lists.expect(ObjectKind::pod, 1);
  cronlatch::testing::HandClock clock;
  FirstList shop(lists, ObjectKind::pod, clock);
  EXPECT_FALSE(shop.failed(kForbidden));
  clock.pass(Seconds(60));
  EXPECT_FALSE(shop.failed(!kForbidden));
  EXPECT_FALSE(shop.failed(kForbidden));
  clock.pass(Seconds(60));
  EXPECT_TRUE(shop.failed(kForbidden));
}

TEST(FirstList, IsNotGivenUpAfterItWasListed) {
  FirstLists lists;
  lists.expect(ObjectKind::pod, 1);
  cronlatch::testing::HandClock clock;
  FirstList shop(lists, ObjectKind::pod, clock);
  EXPECT_TRUE(shop.listed());

  EXPECT_FALSE(shop.failed(kForbidden));
  clock.pass(Seconds(3600));
  EXPECT_FALSE(shop.failed(kForbidden));
}

}  // namespace
}  // namespace cronlatch::op
