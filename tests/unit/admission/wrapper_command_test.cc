// SPDX-License-Identifier: Apache-2.0
#include "admission/wrapper_command.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

TEST(KubeletEscaped, DoublesEveryDollar) {
  EXPECT_EQ(kubelet_escaped("a"), "a");
  EXPECT_EQ(kubelet_escaped("$(HOME) $$ $x $"), "$$(HOME) $$$$ $$x $$");
}

}  // namespace
}  // namespace cronlatch::op
