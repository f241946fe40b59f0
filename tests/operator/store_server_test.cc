// SPDX-License-Identifier: Apache-2.0
// StoreServer with a real Redis: the server has its users whatever happens to it.
#include <algorithm>

#include "kube/secrets.h"
#include "store_server_scene.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using StoreServerTest = StoreServerScene;

TEST_F(StoreServerTest, GivesEachNamespaceACredentialThatTheServerAccepts) {
  NEEDS_TLS_SERVER();
  start();
  for (const std::string name : {"shop", "shop-2", "cronlatch"}) {
    EXPECT_EQ(of_namespace(name, "username"), "ns-" + name);
    EXPECT_TRUE(accepts("ns-" + name, of_namespace(name, "password"))) << name;
    EXPECT_EQ(of_namespace(name, "ca.crt"), stored("ca.crt"));
  }
  EXPECT_FALSE(accepts("ns-shop", of_namespace("shop-2", "password")));
  EXPECT_FALSE(accepts("default", ""));
  EXPECT_THAT(log_text_, Not(HasSubstr(of_namespace("shop", "password"))));
  EXPECT_THAT(log_text_, Not(HasSubstr(stored("password-seed"))));
}

TEST_F(StoreServerTest, ASecondCallAndAnotherLeaderChangeNothing) {
  NEEDS_TLS_SERVER();
  start();
  const auto before = api_.at(secret_path())->at("data");
  const std::string password = of_namespace("shop", "password");
  EXPECT_TRUE(maintain());
  EXPECT_EQ(api_.at(secret_path())->at("data"), before);
  EXPECT_EQ(of_namespace("shop", "password"), password);
  new_leader();
  EXPECT_TRUE(maintain());
  EXPECT_EQ(api_.at(secret_path())->at("data"), before);
}

TEST_F(StoreServerTest, WritesNothingWhenItDoesNotLead) {
  leads_ = false;
  EXPECT_FALSE(maintain());
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(StoreServerTest, NoNamespaceGetsACredentialThatTheServerDoesNotHave) {
  EXPECT_FALSE(maintain());  // no server
  EXPECT_NE(stored("users.acl"), "");
  EXPECT_EQ(of_namespace("shop", "password"), "");
  EXPECT_THAT(log_text_, HasSubstr("cannot connect"));
}

TEST_F(StoreServerTest, ReportsAMissingSecret) {
  api_.erase(secret_path());
  EXPECT_FALSE(maintain());
  EXPECT_THAT(log_text_, HasSubstr("cronlatch-redis does not exist"));
}

TEST_F(StoreServerTest, AddsANamespaceAndRemovesOne) {
  NEEDS_TLS_SERVER();
  start();
  const std::string removed = of_namespace("shop-2", "password");
  settings_.store_server_namespaces = {"shop", "late"};
  EXPECT_TRUE(maintain());
  EXPECT_TRUE(accepts("ns-late", of_namespace("late", "password")));
  EXPECT_FALSE(accepts("ns-shop-2", removed));
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
}

TEST_F(StoreServerTest, ALabeledNamespaceThatIsCreatedAgainGetsItsSecretInTheNextRound) {
  NEEDS_TLS_SERVER();
  settings_.store_server_namespace_labels = {{"team", "reports"}};
  const auto create = [&](const char* uid) {
    api_.put("/api/v1/namespaces/labeled", {{"metadata", {{"name", "labeled"}, {"uid", uid}}}});
    api_.erase(kube::secret_path("labeled", "cronlatch-store"));
  };
  create("first");
  start();
  ASSERT_NE(of_namespace("labeled", "password"), "");
  const auto writes_to_it = [&] {
    api_.forget_requests();
    EXPECT_TRUE(maintain());
    const auto writes = api_.writes();
    return std::count_if(writes.begin(), writes.end(), [](const kube::Request& request) {
      return request.path == kube::secret_path("labeled", "cronlatch-store");
    });
  };
  EXPECT_EQ(writes_to_it(), 0);  // the UID shows that it is the same one

  create("second");
  EXPECT_EQ(writes_to_it(), 1);
  EXPECT_TRUE(accepts("ns-labeled", of_namespace("labeled", "password")));
}

// The operator cannot read its UID.
TEST_F(StoreServerTest, AListedNamespaceThatIsCreatedAgainGetsItsSecretAfterAMinute) {
  NEEDS_TLS_SERVER();
  start();
  api_.erase(kube::secret_path("shop", "cronlatch-store"));
  api_.forget_requests();
  EXPECT_TRUE(maintain());
  EXPECT_THAT(api_.writes(), IsEmpty());

  clock_.pass(Seconds(60));
  EXPECT_TRUE(maintain());
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
}

TEST_F(StoreServerTest, ARestartedServerGetsItsUsersAgain) {
  NEEDS_TLS_SERVER();
  start();
  // Given: a namespace that the mounted file does not contain yet
  settings_.store_server_namespaces.emplace_back("late");
  ASSERT_TRUE(maintain());
  // When: the server starts again with the old file
  redis_->restart();
  EXPECT_FALSE(accepts("ns-late", of_namespace("late", "password")));
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
  ASSERT_TRUE(maintain());
  // Then
  EXPECT_TRUE(accepts("ns-late", of_namespace("late", "password")));
}

TEST_F(StoreServerTest, RestoresUsersThatWereChangedWithinTheInterval) {
  NEEDS_TLS_SERVER();
  start();
  (*admin())({"ACL", "SETUSER", "ns-shop", "off"});
  EXPECT_FALSE(accepts("ns-shop", of_namespace("shop", "password")));
  clock_.pass(op::kReapplyInterval);
  EXPECT_TRUE(maintain());
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
}

}  // namespace
}  // namespace cronlatch::testing
