// SPDX-License-Identifier: Apache-2.0
#include "operator/first_lists.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

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

}  // namespace
}  // namespace cronlatch::op
