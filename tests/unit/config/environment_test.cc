// SPDX-License-Identifier: Apache-2.0
#include "config/environment.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using Environment = std::vector<std::string>;

TEST(Environment, GivesItsOptions) {
  const Result<std::vector<Setting>> settings = environment_settings(Environment{
      "PATH=/bin", "CRONLATCH_TTL=5m", "CRONLATCH_ON_BUSY=wait", "CRONLATCH_CONFIG=/x=y"});
  ASSERT_TRUE(settings.ok());
  ASSERT_EQ(settings->size(), 3U);
  EXPECT_EQ((*settings)[0].option->key, "ttl");
  EXPECT_EQ((*settings)[0].text, "5m");
  EXPECT_EQ((*settings)[0].origin, "environment CRONLATCH_TTL");
  EXPECT_EQ((*settings)[0].where, "CRONLATCH_TTL");
  EXPECT_EQ((*settings)[2].text, "/x=y");
}

TEST(Environment, NamesTheNearestOfAnUnknownVariable) {
  const auto settings = environment_settings(Environment{"CRONLATCH_ON_BUZY=wait"});
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error().code, Code::usage);
  EXPECT_EQ(settings.error().message, "unknown variable CRONLATCH_ON_BUZY");
  EXPECT_TRUE(settings.error().hint.starts_with("did you mean CRONLATCH_ON_BUSY?"))
      << settings.error().hint;
}

TEST(Environment, RefusesUnknownVariables) {
  for (const char* bad :
       {"CRONLATCH_PERMITS=2", "CRONLATCH_ISOLATED=true", "CRONLATCH_BINARY=x", "CRONLATCH_=x",
        "CRONLATCH_ttl=5m", "CRONLATCH_PASSWORDS=x", "CRONLATCH_TTL_PORT_X=1"})
    EXPECT_FALSE(environment_settings(Environment{bad}).ok()) << bad;
}

TEST(Environment, NeverPrintsAValue) {
  const auto settings = environment_settings(Environment{"CRONLATCH_REDIS_PASSWORD=hunter2"});
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ((settings.error().message + settings.error().hint).find("hunter2"), std::string::npos);
}

TEST(Environment, AcceptsItsVariablesThatAreNoOptions) {
  const auto settings = environment_settings(
      Environment{"CRONLATCH_LOCK_NAME=a", "CRONLATCH_FENCE=1", "CRONLATCH_LOCK_HOLDER=h",
                  "CRONLATCH_LEASE_MS=1", "CRONLATCH_SCHEDULED_TIME=x", "CRONLATCH_PASSWORD=x",
                  "XCRONLATCH_FOO=1", "CRONLATCH=1"});
  ASSERT_TRUE(settings.ok());
  EXPECT_TRUE(settings->empty());
}

TEST(Environment, IgnoresTheAddressesOfServicesNamedCronlatch) {
  for (const char* link :
       {"CRONLATCH_SERVICE_HOST=10.0.0.1", "CRONLATCH_SERVICE_PORT=443",
        "CRONLATCH_SERVICE_PORT_HTTPS=443", "CRONLATCH_PORT=tcp://10.0.0.1:443",
        "CRONLATCH_PORT_443_TCP=tcp://10.0.0.1:443", "CRONLATCH_PORT_443_TCP_ADDR=10.0.0.1",
        "CRONLATCH_OPERATOR_SERVICE_HOST=10.0.0.1", "CRONLATCH_OPERATOR_PORT_443_TCP_PROTO=tcp"})
    EXPECT_TRUE(environment_settings(Environment{link}).ok()) << link;
}

TEST(Environment, HasNoOptionThatLooksLikeAnAddress) {
  for (const Option& option : option_table()) {
    const std::string name = variable_of(option);
    if (name.empty() || option.scope == Scope::flag_only) continue;
    const auto settings = environment_settings(Environment{name + "=x"});
    ASSERT_TRUE(settings.ok()) << name;
    EXPECT_EQ(settings->size(), 1U) << name;
  }
}

TEST(Environment, TakesTheFirstOfTwoAsGetenvDoes) {
  const Environment twice = {"CRONLATCH_TTL=1m", "CRONLATCH_TTL=2m"};
  const auto settings = environment_settings(twice);
  ASSERT_TRUE(settings.ok());
  ASSERT_EQ(settings->size(), 1U);
  EXPECT_EQ((*settings)[0].text, "1m");
  EXPECT_EQ(variable(twice, "CRONLATCH_TTL"), "1m");
}

}  // namespace
}  // namespace cronlatch
