// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/passwords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cronlatch::op {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
const WallTime kStart{1'763'690'000 * kSecond};

WallTime after(Seconds time) { return {kStart.us + time.count() * kSecond}; }
Result<Secret> next_seed() { return Secret("next"); }
Result<Secret> no_seed() { return Error{Code::system, "no random bits"}; }
PasswordSeeds plan(const PasswordSeeds& seeds, WallTime now) {
  return *plan_seeds(seeds, now, next_seed);
}

TEST(Passwords, SeedsAreLongAndDifferent) {
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    const auto seed = create_seed();
    ASSERT_TRUE(seed);
    EXPECT_EQ(seed->reveal().size(), 43U);  // 256 bits in base64 without padding
    seen.insert(seed->reveal());
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST(Passwords, DependOnSeedAndUserOnly) {
  const Secret seed("seed"), other("other");
  EXPECT_EQ(derive_password(seed, "ns-shop"), derive_password(seed, "ns-shop"));
  EXPECT_NE(derive_password(seed, "ns-shop"), derive_password(seed, "ns-shop2"));
  EXPECT_NE(derive_password(seed, "ns-shop"), derive_password(other, "ns-shop"));
}

// The vector of RFC 4231, test case 2, in base64url.
TEST(Passwords, AreHmacSha256) {
  EXPECT_EQ(derive_password(Secret("Jefe"), "what do ya want for nothing?").reveal(),
            "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM");
}

TEST(Passwords, TheFirstSeedHasNoPrevious) {
  EXPECT_EQ(plan({}, kStart), (PasswordSeeds{Secret("next"), {}, kStart}));
}

TEST(Passwords, AreKeptForTheirLife) {
  const PasswordSeeds seeds{Secret("now"), {}, kStart};
  EXPECT_EQ(plan(seeds, after(kPasswordLife - Seconds(1))), seeds);
  EXPECT_EQ(plan(seeds, after(kPasswordLife)),
            (PasswordSeeds{Secret("next"), Secret("now"), after(kPasswordLife)}));
}

TEST(Passwords, ThePreviousOneEndsAfterTheOverlap) {
  const PasswordSeeds seeds{Secret("now"), Secret("before"), kStart};
  EXPECT_EQ(plan(seeds, after(kPasswordOverlap - Seconds(1))), seeds);
  EXPECT_EQ(plan(seeds, after(kPasswordOverlap)), (PasswordSeeds{Secret("now"), {}, kStart}));
}

// A leader whose clock is behind would otherwise end a password that runs still use.
TEST(Passwords, AClockThatIsBehindChangesNothing) {
  const PasswordSeeds seeds{Secret("now"), Secret("before"), kStart};
  EXPECT_EQ(plan(seeds, after(Seconds(-3'600))), seeds);
}

TEST(Passwords, WithoutRandomBitsThereIsAnError) { EXPECT_FALSE(plan_seeds({}, kStart, no_seed)); }

TEST(Passwords, BothAreAcceptedDuringTheOverlap) {
  const PasswordSeeds one{Secret("now"), {}, kStart};
  const PasswordSeeds two{Secret("now"), Secret("before"), kStart};
  EXPECT_THAT(accepted_passwords(one, "u"),
              ::testing::ElementsAre(derive_password(Secret("now"), "u")));
  EXPECT_THAT(accepted_passwords(two, "u"),
              ::testing::ElementsAre(derive_password(Secret("now"), "u"),
                                     derive_password(Secret("before"), "u")));
}

}  // namespace
}  // namespace cronlatch::op
