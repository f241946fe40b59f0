// SPDX-License-Identifier: Apache-2.0
// In a process of its own.
#include "proc/startup.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "support/in_a_process.h"

namespace cronlatch {
namespace {

using testing::in_a_process;

TEST(Hardening, MakesTheProcessUndumpable) {
  // Given
  const auto check = [] {
    // When
    harden_process();
    return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 7 : 1;
  };
  // Then
  EXPECT_EQ(in_a_process(check), 7);
}

}  // namespace
}  // namespace cronlatch
