// SPDX-License-Identifier: Apache-2.0
// min-hold after a crash: it counts from the grant, and can be longer than the lease.
#include "gated.h"

namespace cronlatch::testing {
namespace {

class MinHold : public GatedByRedis {};

TEST_F(MinHold, L0_OfAKilledWrapperKeepsTheLockClosedBeyondItsLease) {
  constexpr std::int64_t kMinHoldUs = 8'000'000;
  // Given
  const std::int64_t before = boottime_us();
  Program program(run({"--ttl", "5s", "--min-hold", "8s"}, {"say", "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  // When
  program.signal(SIGKILL);
  Program next(run({"--ttl", "5s", "--on-busy", "wait"}, {"beats", "beat", "20"}));
  // Then
  EXPECT_EQ(next.exit_code(), 0) << next.err();
  const std::string& out = next.out();
  ASSERT_THAT(out, ::testing::HasSubstr("beat "));
  EXPECT_GE(std::atoll(out.c_str() + out.find("beat ") + 5), before + kMinHoldUs);
  EXPECT_TRUE(shows("\"stolen\":1"));
}

}  // namespace
}  // namespace cronlatch::testing
