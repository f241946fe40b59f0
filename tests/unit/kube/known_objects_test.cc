// SPDX-License-Identifier: Apache-2.0
#include "kube/known_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cronlatch::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr const char* kUid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

std::vector<std::string> deleted_by_list(KnownObjects& known, const std::vector<ObjectKey>& listed,
                                         const std::string& uid) {
  std::vector<std::string> out;
  known.begin_list();
  for (const ObjectKey& key : listed) known.add(key, uid);
  known.end_list([&](const ObjectKey& key, const std::string& of) {
    out.push_back(key.namespace_name + "/" + key.name + " " + of);
  });
  return out;
}

// Only lower-case UUIDs are stored as numbers.
class KnownUid : public ::testing::TestWithParam<const char*> {};
TEST_P(KnownUid, IsReturnedAsItWas) {
  KnownObjects known;
  EXPECT_EQ(known.add({"shop", "report"}, GetParam()), std::nullopt);
  EXPECT_EQ(known.add({"shop", "report"}, GetParam()), std::nullopt);
  EXPECT_THAT(known.remove({"shop", "report"}), Optional(std::string(GetParam())));
  EXPECT_EQ(known.remove({"shop", "report"}), std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(OfEachForm, KnownUid,
                         ::testing::Values(kUid, "00000000-0000-0000-0000-000000000000",
                                           "ffffffff-ffff-ffff-ffff-ffffffffffff", "",
                                           "0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9",
                                           "0a1b2c3d04e5f-6071-8293-a4b5c6d7e8f9",
                                           "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f",
                                           "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8fg", "17"));

TEST(KnownObjects, ReturnsTheUidOfAFormerObjectWithTheName) {
  KnownObjects known;
  known.add({"shop", "report"}, kUid);
  EXPECT_THAT(known.add({"shop", "report"}, "17"), Optional(std::string(kUid)));
  EXPECT_THAT(known.add({"shop", "report"}, kUid), Optional(std::string("17")));
  EXPECT_EQ(known.add({"bank", "report"}, "18"), std::nullopt);
}

TEST(KnownObjects, ReportsWhatAListDoesNotContain) {
  KnownObjects known;
  EXPECT_THAT(deleted_by_list(known, {{"a", "1"}, {"a", "2"}, {"b", "1"}, {"c", "3"}}, kUid),
              IsEmpty());
  EXPECT_THAT(deleted_by_list(known, {{"a", "2"}, {"c", "3"}}, kUid),
              ElementsAre("a/1 " + std::string(kUid), "b/1 " + std::string(kUid)));
  EXPECT_THAT(deleted_by_list(known, {}, kUid),
              ElementsAre("a/2 " + std::string(kUid), "c/3 " + std::string(kUid)));
  EXPECT_THAT(deleted_by_list(known, {}, kUid), IsEmpty());
}

// A list that failed before its end is followed by another one.
TEST(KnownObjects, AreComparedWithTheLastList) {
  KnownObjects known;
  known.begin_list();
  known.add({"a", "1"}, "17");
  EXPECT_THAT(deleted_by_list(known, {{"a", "2"}}, "18"), ElementsAre("a/1 17"));
}

}  // namespace
}  // namespace cronlatch::kube
