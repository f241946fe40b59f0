// SPDX-License-Identifier: Apache-2.0
#include "gated/gated_container.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using kube::Json;

const Json kSide{{"name", "side"}, {"command", {"sh"}}};
const Json kGate = {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=a/b", "--"};

std::string found_in(const Json& container) {
  const Json spec{{"containers", Json::array({kSide, container})}};
  const Json* const found = gated_container(spec);
  return found == nullptr ? "" : kube::string_at(*found, {"name"});
}

TEST(GatedContainer, RunsTheWrapper) {
  EXPECT_EQ(found_in({{"name", "main"}, {"command", kGate}, {"args", {"true"}}}), "main");
}

TEST(GatedContainer, MayRunTheWrapperBehindAnotherProgram) {
  EXPECT_EQ(found_in({{"name", "main"}, {"command", {"/vault/vault-env"}}, {"args", kGate}}),
            "main");
}

TEST(GatedContainer, IsMissingInOtherPods) {
  EXPECT_EQ(found_in(kSide), "");
  for (const Json& spec : {Json(), Json(7), Json::array(), Json{{"containers", "x"}}})
    EXPECT_EQ(gated_container(spec), nullptr);
}

TEST(ExitCodeOf, IsInTheRangeOfExitCodes) {
  EXPECT_EQ(exit_code_of({{"exitCode", 79}}), 79);
  EXPECT_EQ(exit_code_of({{"exitCode", -1}}), 0);
  EXPECT_EQ(exit_code_of({{"exitCode", 4'000'000'000}}), 255);
  EXPECT_EQ(exit_code_of({{"exitCode", "79"}}), 0);
  EXPECT_EQ(exit_code_of(Json::object()), 0);
}

}  // namespace
}  // namespace cronlatch
