// SPDX-License-Identifier: Apache-2.0
// The text of the rights. tests/operator/store_server_test.cc tests them on a server.
#include "operator/store_server/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/digest.h"

namespace cronlatch::op {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const PasswordSeeds kSeeds{Secret("seed"), {}, {}};
const UserScope kScope{"cronlatch:", {"default", "shop"}, {}};

std::string hash_of(const std::string& seed, const std::string& user) {
  return "#" + short_digest(derive_password(Secret(seed), user).reveal(), 64);
}

ServerUser user(const std::string& name, const UserScope& scope = kScope,
                const PasswordSeeds& seeds = kSeeds) {
  const auto users = server_users(scope, seeds);
  const auto found =
      std::find_if(users.begin(), users.end(), [&](const auto& u) { return u.name == name; });
  return found == users.end() ? ServerUser{} : *found;
}

TEST(Users, OneForEachNamespaceAndTwoOfTheOperator) {
  std::vector<std::string> names;
  for (const ServerUser& each : server_users(kScope, kSeeds)) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("admin", "operator", "ns-default", "ns-shop"));
}

TEST(Users, ANamespaceHasTheKeysOfItsLocks) {
  const auto rules = user("ns-shop").rules;
  EXPECT_THAT(rules, Contains("(~cronlatch:index -@all +eval +zadd)"));
  std::vector<std::string> keys;
  for (const std::string& rule : rules)
    if (rule.starts_with("~")) keys.push_back(rule);
  EXPECT_THAT(keys, ElementsAre("~cronlatch:{shop/*"));
}

TEST(Users, ANamespaceOfClusterLocksHasTheirKeysToo) {
  const UserScope scope{"cronlatch:", {"shop", "other"}, {"shop"}};
  EXPECT_THAT(user("ns-shop", scope).rules, Contains("~cronlatch:{_cluster/*"));
  EXPECT_THAT(user("ns-other", scope).rules, Not(Contains("~cronlatch:{_cluster/*")));
}

TEST(Users, PatternCharactersOfAPrefixStandForThemselves) {
  const UserScope scope{"a*b?[c]\\:", {"shop"}, {}};
  EXPECT_THAT(user("ns-shop", scope).rules, Contains("~a\\*b\\?\\[c\\]\\\\:{shop/*"));
}

TEST(Users, ThePasswordIsAHash) {
  EXPECT_THAT(user("ns-shop").rules, Contains(hash_of("seed", "ns-shop")));
  EXPECT_THAT(acl_file(server_users(kScope, kSeeds)),
              Not(HasSubstr(derive_password(Secret("seed"), "ns-shop").reveal())));
  const PasswordSeeds two{Secret("new"), Secret("seed"), {}};
  EXPECT_THAT(user("ns-shop", kScope, two).rules, Contains(hash_of("new", "ns-shop")));
  EXPECT_THAT(user("ns-shop", kScope, two).rules, Contains(hash_of("seed", "ns-shop")));
}

TEST(Users, TheReaderWritesNothing) {
  EXPECT_THAT(user("operator").rules, Contains("%R~cronlatch:*"));
  EXPECT_THAT(user("operator").rules, Not(Contains(StartsWith("~"))));
}

TEST(Users, TheFileBeginsWithADefaultUserWithoutPassword) {
  const std::string text = acl_file(server_users(kScope, kSeeds));
  EXPECT_THAT(text, StartsWith("user default on resetpass ~* &* +@all\nuser admin on #"));
  EXPECT_THAT(text, HasSubstr("\nuser ns-shop on #"));
  EXPECT_THAT(text, Not(HasSubstr("nopass")));
}

TEST(Users, ACommandReplacesAllRules) {
  const auto command = set_user_command(user("ns-shop"));
  EXPECT_THAT(std::vector<std::string>(command.begin(), command.begin() + 5),
              ElementsAre("ACL", "SETUSER", "ns-shop", "reset", "on"));
}

}  // namespace
}  // namespace cronlatch::op
