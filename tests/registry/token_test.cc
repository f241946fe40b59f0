// SPDX-License-Identifier: Apache-2.0
// Registries whose logins are tokens of a realm, as the public ones are.
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
using Kind = Told::Kind;

class TokenRegistry : public RealRegistry {
 protected:
  TokenRegistry() {
    registry_.push("public/a:1", {R"({"Cmd":["public"]})"});
    registry_.push("private/a:1", {R"({"Cmd":["private"]})"});
  }
  Client::Wish wish(const std::string& entry = "") const {
    return {.registries = {registry_.name(), tokens_.name()},
            .ca = certificates_.ca(),
            .docker_config =
                entry.empty() ? "" : R"({"auths":{")" + registry_.name() + "\":{" + entry + "}}}"};
  }
  std::string image(const std::string& name) const { return registry_.name() + "/" + name; }

  TokenServer tokens_{certificates_};
  RegistryServer registry_{certificates_, tokens_};
};

TEST_F(TokenRegistry, TellsAnybodyWhatIsPublic) {
  Client client(wish());

  EXPECT_EQ(cmd(client.find(image("public/a:1"))), Words{"public"});
  EXPECT_EQ(client.find(image("private/a:1")).kind, Kind::failed);
}

TEST_F(TokenRegistry, OpensToEveryKindOfLogin) {
  const std::string login = std::string(RegistryServer::kUser) + ":" + RegistryServer::kPassword;
  for (const std::string& entry :
       {std::string(R"("username":"cron","password":"wonder")"),
        R"("auth":")" + to_base64(login) + "\"",
        std::string(R"("auth":"","identitytoken":")") + TokenServer::kIdentityToken + "\""}) {
    Client client(wish(entry));

    EXPECT_EQ(cmd(client.find(image("private/a:1"))), Words{"private"}) << entry;
    EXPECT_TRUE(client.left_nothing());
  }
}

TEST_F(TokenRegistry, RefusesAWrongLoginAndRepeatsNothingOfIt) {
  for (const char* entry :
       {R"("username":"cron","password":"geheim")", R"("identitytoken":"geheim")"}) {
    Client client(wish(entry));

    const Told told = client.find(image("private/a:1"));

    EXPECT_EQ(told.kind, Kind::failed) << entry;
    EXPECT_THAT(told.why, HasSubstr("auth")) << entry;
    EXPECT_THAT(told.why + client.log(), Not(HasSubstr("geheim")));
    EXPECT_TRUE(client.left_nothing());
  }
}

TEST_F(TokenRegistry, WithAWrongLoginStillTellsWhatIsPublic) {
  Client client(wish(R"("username":"cron","password":"geheim")"));

  EXPECT_EQ(cmd(client.find(image("public/a:1"))), Words{"public"});
}

TEST_F(TokenRegistry, WhoseRealmIsInsideAndNotListedIsNotFollowed) {
  Client::Wish wished = wish(R"("username":"cron","password":"wonder")");
  wished.registries = {registry_.name()};
  Client client(wished);
  const int before = tokens_.connections();

  EXPECT_EQ(client.find(image("private/a:1")).kind, Kind::failed);
  EXPECT_EQ(tokens_.connections(), before);
}

}  // namespace
}  // namespace cronlatch::registry
