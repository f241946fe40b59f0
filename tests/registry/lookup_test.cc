// SPDX-License-Identifier: Apache-2.0
// The whole way from an image's name to its command, with the real client and a real registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = Told::Kind;

TEST_F(RealRegistry, TellsEntrypointAndCmdOfEverySchema) {
  RegistryServer registry(certificates_);
  for (const char* format : {"oci", "v2s2", "v2s1"})
    registry.push(std::string("team/") + format + ":1",
                  {R"({"Entrypoint":["/e","$HOME"],"Cmd":["a b"]})"}, format);
  Client client(wish(registry));

  for (const char* format : {"oci", "v2s2", "v2s1"}) {
    const Told told = client.find(registry.name() + "/team/" + format + ":1");
    EXPECT_EQ(entrypoint(told), (Words{"/e", "$HOME"})) << format;
    EXPECT_EQ(cmd(told), Words{"a b"}) << format;
    EXPECT_EQ(told.looked.digest.empty(), std::string(format) == "v2s1");
  }
  EXPECT_TRUE(client.left_nothing());
}

TEST_F(RealRegistry, AnswersByDigestWhatItsTagStandsFor) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client client(wish(registry));
  const Told tagged = client.find(registry.name() + "/a:1");
  ASSERT_EQ(tagged.kind, Kind::known) << tagged.why;
  registry.push("a:1", {R"({"Cmd":["two"]})"});

  const Told pinned = client.find(registry.name() + "/a@" + tagged.looked.digest);
  Client later(wish(registry));

  EXPECT_EQ(cmd(pinned), Words{"one"});
  EXPECT_EQ(cmd(later.find(registry.name() + "/a:1")), Words{"two"});
}

TEST_F(RealRegistry, IsLookedAtAgainForATagThatMayHaveMovedButNotForADigest) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client::Wish wished = wish(registry);
  wished.tag_recheck = Millis(1);
  Client client(wished);
  const std::string tag = registry.name() + "/a:1";
  const Told first = client.find(tag);
  ASSERT_EQ(cmd(first), Words{"one"});
  const std::string digest = registry.name() + "/a@" + first.looked.digest;
  ASSERT_EQ(cmd(client.find(digest)), Words{"one"});

  registry.push("a:1", {R"({"Cmd":["two"]})"});

  EXPECT_TRUE(eventually([&] { return cmd(client.find(tag)) == Words{"two"}; }));
  EXPECT_NE(client.find(tag).looked.digest, first.looked.digest);
  EXPECT_EQ(cmd(client.find(digest)), Words{"one"});
}

TEST_F(RealRegistry, TellsEachPlatformItsOwn) {
  RegistryServer registry(certificates_);
  registry.push_index(
      "a:1", {{R"({"Entrypoint":["/amd"]})", "amd64"}, {R"({"Entrypoint":["/arm"]})", "arm64"}});
  Client client(wish(registry));

  const Told both = client.find(registry.name() + "/a:1", {"amd64", "arm64"});
  EXPECT_EQ(entrypoint(both, 0), Words{"/amd"});
  EXPECT_EQ(entrypoint(both, 1), Words{"/arm"});
  EXPECT_EQ(entrypoint(client.find(registry.name() + "/a:1", {"arm64"})), Words{"/arm"});
  const Told none = client.find(registry.name() + "/a:1", {"s390x"});
  EXPECT_EQ(none.kind, Kind::failed);
  EXPECT_THAT(none.why, HasSubstr("nothing for linux on s390x"));
}

TEST_F(RealRegistry, OpensToTheRightLoginOnlyAndNobodySeesIt) {
  RegistryServer registry(certificates_, RegistryServer::Door::login);
  registry.push("a:1", {R"({"Cmd":["private"]})"});
  const auto with = [&](const std::string& logins) {
    Client::Wish wished = wish(registry);
    wished.docker_config = R"({"auths":{)" + logins + "}}";
    return wished;
  };
  const std::string wrong =
      '"' + registry.name() + R"(/a":{"username":"cron","password":"geheim-und-falsch"})";
  const std::string right = '"' + registry.name() + R"(":{"username":"cron","password":"wonder"})";

  EXPECT_EQ(cmd(Client(with(right)).find(registry.name() + "/a:1")), Words{"private"});
  EXPECT_EQ(cmd(Client(with(wrong + "," + right)).find(registry.name() + "/a:1")),
            Words{"private"});
  for (const std::string& logins : {wrong, std::string()}) {
    Client client(with(logins));
    const Told told = client.find(registry.name() + "/a:1");
    EXPECT_EQ(told.kind, Kind::failed);
    EXPECT_THAT(told.why, HasSubstr("auth"));
    EXPECT_THAT(told.why + client.log(), Not(HasSubstr("geheim")));
    EXPECT_TRUE(client.left_nothing());
  }
}

TEST_F(RealRegistry, SaysThatATagIsAbsentAndThatItIsDown) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client client(wish(registry));

  const Told absent = client.find(registry.name() + "/a:2");
  ASSERT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
  registry.stop();
  const Told down = client.find(registry.name() + "/b:1");

  EXPECT_EQ(absent.kind, Kind::failed);
  EXPECT_THAT(absent.why, HasSubstr("manifest unknown"));
  EXPECT_EQ(down.kind, Kind::failed);
  EXPECT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
}

TEST_F(RealRegistry, IsNotTrustedWithoutItsAuthority) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client::Wish wished = wish(registry);
  wished.ca = certificates_.other_ca();
  Client client(wished);

  const Told told = client.find(registry.name() + "/a:1");

  EXPECT_EQ(told.kind, Kind::failed);
  EXPECT_THAT(told.why, HasSubstr("x509"));
}

TEST_F(RealRegistry, AnswersAHundredQuestionsAtOnce) {
  RegistryServer registry(certificates_);
  for (const char* tag : {"a:1", "a:2", "a:3", "a:4", "a:5"})
    registry.push(tag, {std::string(R"({"Cmd":[")") + tag + R"("]})"});
  Client client(wish(registry));
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 100; ++i)
      threads.emplace_back([&, tag = "a:" + std::to_string(i % 5 + 1)] {
        if (cmd(client.find(registry.name() + "/" + tag)) == Words{tag}) ++right;
      });
  }
  EXPECT_EQ(right, 100);
}

TEST_F(RealRegistry, IsRefusedAConfigBeyondAllBounds) {
  RegistryServer registry(certificates_);
  registry.push("huge:1",
                {R"({"Cmd":["x"],"Labels":{"a":")" + std::string(3'000'000, 'x') + R"("}})"});
  registry.push("long:1", {R"({"Cmd":[")" + std::string(100'000, 'x') + R"("]})"});
  Client client(wish(registry));

  EXPECT_THAT(client.find(registry.name() + "/huge:1").why, HasSubstr("longer than it may be"));
  EXPECT_THAT(client.find(registry.name() + "/long:1").why, HasSubstr("very long Cmd"));
}

}  // namespace
}  // namespace cronlatch::registry
