// SPDX-License-Identifier: Apache-2.0
// The error matrix: every class of error of PostgreSQL, for every verb, on a real server, whose
// functions raise it. A request that failed has changed nothing, and the next one is executed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/contract.h"
#include "raising.h"
#include "store/open.h"
#include "unit/store/postgres/state_cases.h"

namespace cronlatch::testing {
namespace {

class OnServer : public World {
 public:
  std::unique_ptr<Backend> open() override {
    auto backend = open_store(raising().server().spec());
    if (!backend) ADD_FAILURE() << backend.error().message;
    return std::move(backend).value();
  }
  void pass(Millis) override { ADD_FAILURE() << "not used"; }
};

class PostgresErrorMatrix : public ::testing::Test {
 protected:
  PostgresErrorMatrix() {
    raising().stop();
    raising().server()("TRUNCATE cronlatch.locks CASCADE");
    const std::optional<Reply> reply = caller_(caller_.acquire());
    if (!reply || !std::holds_alternative<Granted>(*reply))
      ADD_FAILURE() << "not granted";
    else
      fence_ = std::get<Granted>(*reply).fence;
  }
  ~PostgresErrorMatrix() override { raising().stop(); }

  void expect_renewed() {
    const std::optional<Reply> reply = caller_(caller_.renew(fence_));
    EXPECT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  }
  // Each class of error for one verb, of which the lock of this caller is not free before.
  void expect_listed(const std::string& verb, Request request) {
    for (const StateCase& expected : kStates) {
      if (*expected.state == '\0') continue;  // no server sends it
      SCOPED_TRACE(verb + ": " + expected.name);
      const std::string before = raising().content(), session = raising().session();
      raising().raise(verb, expected.state);
      // Long enough for one answer, and the end of a request that is sent again and again.
      const bool is_repeated = expected.next == Next::same_request;
      std::visit(
          [&](auto& sent) { sent.give_up = boot_now() + (is_repeated ? Millis(500) : kPatience); },
          request);
      const std::optional<Reply> reply = caller_(request);
      raising().stop();
      ASSERT_TRUE(reply && std::holds_alternative<Unavailable>(*reply));
      const Unavailable& down = std::get<Unavailable>(*reply);
      EXPECT_EQ(down.error.code, expected.code) << down.error.message;
      EXPECT_EQ(down.transient, expected.transient) << down.error.message;
      EXPECT_NE(down.error.hint, "");
      EXPECT_EQ(raising().content(), before);
      expect_renewed();
      if (is_repeated) continue;  // the last of many answers can be missing
      EXPECT_TRUE(down.unsent) << "rolled back: " << down.error.message;
      EXPECT_EQ(raising().session() != session, expected.next == Next::new_connection);
    }
  }

  OnServer world_;
  Caller caller_{world_, "shop/report", "aa11"};
  Fence fence_ = 0;
};

TEST_F(PostgresErrorMatrix, HasTheListedOutcomeForAcquire) {
  Caller other(world_, "shop/report", "bb22");
  Acquire request = other.acquire();
  request.lock = "shop/free";
  expect_listed("acquire", request);
}
TEST_F(PostgresErrorMatrix, HasTheListedOutcomeForRenew) {
  expect_listed("renew", caller_.renew(fence_));
}
TEST_F(PostgresErrorMatrix, HasTheListedOutcomeForRelease) {
  expect_listed("release", caller_.release(fence_));
}
TEST_F(PostgresErrorMatrix, HasTheListedOutcomeForRevokeAndShowAndList) {
  for (const StateCase& expected : kStates) {
    if (*expected.state == '\0') continue;
    SCOPED_TRACE(expected.name);
    const std::string before = raising().content();
    // These repeat a request until they give up.
    const Millis patience = expected.transient ? Millis(300) : kPatience;
    raising().raise("revoke", expected.state);
    const auto revoked = caller_.backend().revoke("shop/report", boot_now() + patience);
    raising().raise("view", expected.state);
    const auto shown = caller_.backend().show("shop/report", boot_now() + patience);
    const auto listed = caller_.backend().list(boot_now() + patience);
    raising().stop();
    ASSERT_FALSE(revoked.ok());
    EXPECT_EQ(revoked.error().code, expected.code) << revoked.error().message;
    ASSERT_FALSE(shown.ok());
    EXPECT_EQ(shown.error().code, expected.code) << shown.error().message;
    ASSERT_FALSE(listed.ok());
    EXPECT_EQ(listed.error().code, expected.code) << listed.error().message;
    EXPECT_EQ(raising().content(), before);
  }
  expect_renewed();
}

}  // namespace
}  // namespace cronlatch::testing
