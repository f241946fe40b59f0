// SPDX-License-Identifier: Apache-2.0
// A registry with bearer tokens from a realm, like the public ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "support/base64.h"
#include "support/token_server.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = LookupResult::Kind;

class TokenRegistry : public RealRegistry {
 protected:
  TokenRegistry() {
    registry_.push("public/a:1", {R"({"Cmd":["public"]})"});
    registry_.push("private/a:1", {R"({"Cmd":["private"]})"});
  }
  Client::Config config_for(const std::string& entry = "") const {
    return {.registries = {registry_.name(), tokens_.name()},
            .ca = certificates_.ca(),
            .docker_config =
                entry.empty() ? "" : R"({"auths":{")" + registry_.name() + "\":{" + entry + "}}}"};
  }
  std::string image(const std::string& name) const { return registry_.name() + "/" + name; }

  TokenServer tokens_{certificates_};
  RegistryServer registry_{certificates_, tokens_};
};

TEST_F(TokenRegistry, APublicImageNeedsNoLogin) {
  Client client(config_for());

  EXPECT_EQ(cmd(client.find(image("public/a:1"))), Words{"public"});
  EXPECT_EQ(client.find(image("private/a:1")).kind, Kind::failed);
}

TEST_F(TokenRegistry, EveryKindOfLoginReadsAPrivateImage) {
  const std::string login = std::string(RegistryServer::kUser) + ":" + RegistryServer::kPassword;
  for (const std::string& entry :
       {std::string(R"("username":"cron","password":"wonder")"),
        R"("auth":")" + to_base64(login) + "\"",
        std::string(R"("auth":"","identitytoken":")") + TokenServer::kIdentityToken + "\""}) {
    Client client(config_for(entry));

    EXPECT_EQ(cmd(client.find(image("private/a:1"))), Words{"private"}) << entry;
    EXPECT_TRUE(client.has_no_temporary_files());
  }
}

TEST_F(TokenRegistry, HeadOfAPrivateImageUsesTheLogin) {
  const std::string login = std::string(RegistryServer::kUser) + ":" + RegistryServer::kPassword;
  for (const std::string& entry :
       {R"("auth":")" + to_base64(login) + "\"",
        std::string(R"("auth":"","identitytoken":")") + TokenServer::kIdentityToken + "\""}) {
    Client::Config config = config_for(entry);
    config.tag_max_age = Millis(1);
    Client client(config);
    ASSERT_EQ(cmd(client.find(image("private/a:1"))), Words{"private"});
    const int gets = registry_.requests("GET", "/private/a/manifests/");

    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(cmd(client.find(image("private/a:1"))), Words{"private"}) << entry;

    EXPECT_EQ(registry_.requests("GET", "/private/a/manifests/"), gets) << entry;
  }
}

TEST_F(TokenRegistry, AWrongLoginIsRefusedAndNotLogged) {
  for (const char* entry :
       {R"("username":"cron","password":"s3cret")", R"("identitytoken":"s3cret")"}) {
    Client client(config_for(entry));

    const LookupResult result = client.find(image("private/a:1"));

    EXPECT_EQ(result.kind, Kind::failed) << entry;
    EXPECT_THAT(result.error, HasSubstr("auth")) << entry;
    EXPECT_THAT(result.error + client.log(), Not(HasSubstr("s3cret")));
    EXPECT_TRUE(client.has_no_temporary_files());
  }
}

TEST_F(TokenRegistry, AWrongLoginDoesNotPreventAPublicImage) {
  Client client(config_for(R"("username":"cron","password":"s3cret")"));

  EXPECT_EQ(cmd(client.find(image("public/a:1"))), Words{"public"});
}

TEST_F(TokenRegistry, AnInternalRealmThatIsNotListedIsNotContacted) {
  Client::Config config = config_for(R"("username":"cron","password":"wonder")");
  config.registries = {registry_.name()};
  Client client(config);
  const int before = tokens_.connections();

  EXPECT_EQ(client.find(image("private/a:1")).kind, Kind::failed);
  EXPECT_EQ(tokens_.connections(), before);
}

}  // namespace
}  // namespace cronlatch::registry
