// SPDX-License-Identifier: Apache-2.0
#include "labels/gate_argv.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using Words = std::vector<std::string>;

const Words kGate = {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=a", "--"};

Words gated_after(Words before, const Words& after = {"/work"}) {
  before.insert(before.end(), kGate.begin(), kGate.end());
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

TEST(GateArgv, IsFoundAtTheStart) {
  const auto gate = find_gate(gated_after({}, {"sh", "-c", "--", "x"}));
  ASSERT_TRUE(gate.has_value());
  EXPECT_EQ(gate->begin, 0U);
  EXPECT_EQ(gate->end, 5U);
}

TEST(GateArgv, IsFoundAfterAProgramOfAnotherWebhook) {
  for (const Words& before : {Words{"/vault/vault-env"},
                              {"tini", "-g", "--"},
                              {"dumb-init", "--"},
                              {"/berglas/bin/berglas", "exec", "--"},
                              {"op", "run", "--"},
                              {"/usr/bin/env", "A=b"}}) {
    const auto gate = find_gate(gated_after(before));
    ASSERT_TRUE(gate.has_value()) << before.front();
    EXPECT_EQ(gate->begin, before.size());
    EXPECT_EQ(gate->end, before.size() + 5);
  }
}

TEST(GateArgv, IsNotFoundInTheArgumentsOfAScript) {
  EXPECT_FALSE(find_gate(gated_after({"sh", "-c"})).has_value());
  EXPECT_FALSE(find_gate(gated_after({"sh", "-c", "/work"})).has_value());
  EXPECT_FALSE(find_gate(gated_after({"bash", "-lc", "/work", "--"})).has_value());
}

TEST(GateArgv, IsNotFoundInAnyOtherCommand) {
  EXPECT_FALSE(find_gate({"/work", "/cronlatch-bin/cronlatch run --isolated --lock=a -- x"}));
  EXPECT_FALSE(find_gate({"/work", "/cronlatch-bin/cronlatch", "x", "--"}));
  EXPECT_FALSE(find_gate({"/work", "/cronlatch-bin/cronlatch", "--isolated", "run", "--", "x"}));
  EXPECT_FALSE(find_gate({"/cronlatch-bin/cronlatch", "run", "--lock=a", "--", "x"}));
  EXPECT_FALSE(find_gate({"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=a", "x"}));
  EXPECT_FALSE(find_gate({"/work", "--", "/cronlatch-bin/cronlatch", "run", "--isolated"}));
  // Only the first occurrence counts.
  EXPECT_FALSE(find_gate(gated_after({"/work", "/cronlatch-bin/cronlatch"})));
  EXPECT_FALSE(find_gate({}));
}

}  // namespace
}  // namespace cronlatch
