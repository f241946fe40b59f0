// SPDX-License-Identifier: Apache-2.0
// The parts of the rules that only stores in C++ use. tests/rules has all others.
#include "store/rules.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using namespace std::chrono_literals;
using rules::Expiry;

Acquire acquisition(const std::string& owner) {
  Acquire request;
  request.claim.owner = owner;
  request.ttl = 30s;
  return request;
}

TEST(RulesWithoutLease, OnlyAGoneHolderIsReplaced) {
  rules::Record record;
  ServerTime now{1'763'690'000'000'000};
  const auto acquire = [&](const std::string& owner, Expiry expiry) {
    return rules::decide(record, acquisition(owner), now, now, expiry);
  };
  const Reply first = acquire("a", Expiry::holder_gone);
  now = now + std::chrono::hours(50);
  const Reply refused = acquire("b", Expiry::holder_present);
  const Reply second = acquire("c", Expiry::holder_gone);

  ASSERT_TRUE(std::holds_alternative<Granted>(first));
  EXPECT_FALSE(std::get<Granted>(first).leased);
  ASSERT_TRUE(std::holds_alternative<Busy>(refused));
  EXPECT_EQ(std::get<Busy>(refused).remaining, 0s);
  ASSERT_TRUE(std::holds_alternative<Granted>(second));
  EXPECT_TRUE(std::get<Granted>(second).stole);
  EXPECT_EQ(record.expires, ServerTime{});
}

TEST(RulesSlots, MoreThanOneIsRefused) {
  Acquire two;
  two.slots = 2;
  const auto refused = rules::refuse_slots(two);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->error.code, Code::config);
  EXPECT_FALSE(refused->transient);
  EXPECT_FALSE(rules::refuse_slots(Acquire{}).has_value());
  EXPECT_FALSE(rules::refuse_slots(Renew{}).has_value());
}

}  // namespace
}  // namespace cronlatch
