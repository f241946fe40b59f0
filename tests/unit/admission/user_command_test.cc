// SPDX-License-Identifier: Apache-2.0
#include "admission/user_command.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using Words = std::vector<std::string>;

TEST(WithoutWrapper, RemovesTheWrapperAtEveryIndex) {
  const Words wrapper = {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=a", "--"};
  Words command = wrapper;
  command.insert(command.end(), {"sh", "-c", "--", "x"});
  EXPECT_EQ(without_wrapper(command), (Words{"sh", "-c", "--", "x"}));
  command.insert(command.begin(), "env");
  EXPECT_EQ(without_wrapper(command), (Words{"env", "sh", "-c", "--", "x"}));
  Words twice = wrapper;
  twice.insert(twice.end(), wrapper.begin(), wrapper.end());
  twice.push_back("x");
  EXPECT_EQ(without_wrapper(twice), (Words{"x"}));
}

TEST(WithoutWrapper, KeepsARunThatTheUserWrote) {
  const Words own = {"/cronlatch-bin/cronlatch", "run", "--lock=a", "--", "x"};
  EXPECT_EQ(without_wrapper(own), own);
  const Words open_ended = {"/cronlatch-bin/cronlatch", "run", "--isolated", "x"};
  EXPECT_EQ(without_wrapper(open_ended), open_ended);
  EXPECT_EQ(without_wrapper({}), Words{});
}

}  // namespace
}  // namespace cronlatch::op
