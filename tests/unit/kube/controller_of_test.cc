// SPDX-License-Identifier: Apache-2.0
#include "kube/controller_of.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

// The name of the controller of that kind in an object with these ownerReferences; "" for none.
std::string controller(const std::string& owners, std::string_view kind) {
  const Json object = Json::parse(R"({"metadata":{"ownerReferences":)" + owners + "}}");
  const Json* found = controller_of(object, kind);
  return found == nullptr ? "" : std::string(string_at(*found, {"name"}));
}

TEST(ControllerOf, IsTheControllingOwner) {
  const std::string owners = R"([{"kind":"CronJob","name":"owner"},
      {"kind":"CronJob","name":"former","controller":false},
      {"kind":"CronJob","name":"nightly","controller":true}])";
  EXPECT_EQ(controller(owners, "CronJob"), "nightly");
}

TEST(ControllerOf, HasTheRequestedKind) {
  const std::string owners = R"([{"kind":"Workflow","name":"w","controller":true}])";
  EXPECT_EQ(controller(owners, "CronJob"), "");
  EXPECT_EQ(controller(owners, "Workflow"), "w");
}

TEST(ControllerOf, IsNothingForAMissingEmptyOrInvalidList) {
  EXPECT_EQ(controller_of(Json::object(), "Job"), nullptr);
  EXPECT_EQ(controller("[]", "Job"), "");
  EXPECT_EQ(controller(R"({"kind":"Job","name":"j","controller":true})", "Job"), "");
  EXPECT_EQ(controller(R"(["Job", null, {"kind":"Job","controller":"true"}])", "Job"), "");
}

}  // namespace
}  // namespace cronlatch::kube
