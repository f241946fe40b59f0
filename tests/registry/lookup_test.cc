// SPDX-License-Identifier: Apache-2.0
// From an image's name to its command, with skopeo and a real registry.
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
using Kind = LookupResult::Kind;

TEST_F(RealRegistry, ReturnsEntrypointAndCmdOfEverySchema) {
  RegistryServer registry(certificates_);
  for (const char* format : {"oci", "v2s2", "v2s1"})
    registry.push(std::string("team/") + format + ":1",
                  {R"({"Entrypoint":["/e","$HOME"],"Cmd":["a b"]})"}, format);
  Client client(config_for(registry));

  for (const char* format : {"oci", "v2s2", "v2s1"}) {
    const LookupResult result = client.find(registry.name() + "/team/" + format + ":1");
    EXPECT_EQ(entrypoint(result), (Words{"/e", "$HOME"})) << format;
    EXPECT_EQ(cmd(result), Words{"a b"}) << format;
    EXPECT_EQ(result.info.digest.empty(), std::string(format) == "v2s1");
  }
  EXPECT_TRUE(client.has_no_temporary_files());
}

TEST_F(RealRegistry, ADigestKeepsItsImageWhenTheTagMoves) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client client(config_for(registry));
  const LookupResult tagged = client.find(registry.name() + "/a:1");
  ASSERT_EQ(tagged.kind, Kind::known) << tagged.error;
  registry.push("a:1", {R"({"Cmd":["two"]})"});

  const LookupResult pinned = client.find(registry.name() + "/a@" + tagged.info.digest);
  Client later(config_for(registry));

  EXPECT_EQ(cmd(pinned), Words{"one"});
  EXPECT_EQ(cmd(later.find(registry.name() + "/a:1")), Words{"two"});
}

TEST_F(RealRegistry, ATagIsRevalidatedAndADigestIsNot) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client::Config config = config_for(registry);
  config.tag_max_age = Millis(1);
  Client client(config);
  const std::string tag = registry.name() + "/a:1";
  const LookupResult first = client.find(tag);
  ASSERT_EQ(cmd(first), Words{"one"});
  const std::string digest = registry.name() + "/a@" + first.info.digest;
  ASSERT_EQ(cmd(client.find(digest)), Words{"one"});

  registry.push("a:1", {R"({"Cmd":["two"]})"});

  EXPECT_TRUE(eventually([&] { return cmd(client.find(tag)) == Words{"two"}; }));
  EXPECT_NE(client.find(tag).info.digest, first.info.digest);
  EXPECT_EQ(cmd(client.find(digest)), Words{"one"});
}

TEST_F(RealRegistry, AnUnchangedTagIsRevalidatedWithHeadOnly) {
  RegistryServer registry(certificates_);
  for (const char* format : {"oci", "v2s2", "v2s1"})
    registry.push(std::string("a:") + format, {R"({"Cmd":["one"]})"}, format);
  Client::Config config = config_for(registry);
  config.tag_max_age = Millis(1);
  Client client(config);
  for (const char* format : {"oci", "v2s2", "v2s1"}) {
    const std::string manifest = std::string("/a/manifests/");
    ASSERT_EQ(cmd(client.find(registry.name() + "/a:" + format)), Words{"one"});
    const int gets = registry.requests("GET", manifest);
    const int heads = registry.requests("HEAD", manifest + format);
    ASSERT_GT(gets, 0) << "the log of the registry has another format";

    EXPECT_TRUE(eventually([&] {
      return cmd(client.find(registry.name() + "/a:" + format)) == Words{"one"} &&
             registry.requests("HEAD", manifest + format) >= heads + 20;
    }));

    EXPECT_EQ(registry.requests("GET", manifest), gets) << format;
  }
}

TEST_F(RealRegistry, ReturnsTheCommandOfEachPlatform) {
  RegistryServer registry(certificates_);
  registry.push_index(
      "a:1", {{R"({"Entrypoint":["/amd"]})", "amd64"}, {R"({"Entrypoint":["/arm"]})", "arm64"}});
  Client client(config_for(registry));

  const LookupResult both = client.find(registry.name() + "/a:1", {"amd64", "arm64"});
  EXPECT_EQ(entrypoint(both, 0), Words{"/amd"});
  EXPECT_EQ(entrypoint(both, 1), Words{"/arm"});
  EXPECT_EQ(entrypoint(client.find(registry.name() + "/a:1", {"arm64"})), Words{"/arm"});
  const LookupResult none = client.find(registry.name() + "/a:1", {"s390x"});
  EXPECT_EQ(none.kind, Kind::failed);
  EXPECT_THAT(none.error, HasSubstr("no linux platform for s390x"));
}

TEST_F(RealRegistry, OnlyTheRightLoginReadsAPrivateImageAndIsNotLogged) {
  RegistryServer registry(certificates_, RegistryServer::Door::login);
  registry.push("a:1", {R"({"Cmd":["private"]})"});
  const auto with = [&](const std::string& logins) {
    Client::Config config = config_for(registry);
    config.docker_config = R"({"auths":{)" + logins + "}}";
    return config;
  };
  const std::string wrong =
      '"' + registry.name() + R"(/a":{"username":"cron","password":"s3cret-and-wrong"})";
  const std::string right = '"' + registry.name() + R"(":{"username":"cron","password":"wonder"})";

  EXPECT_EQ(cmd(Client(with(right)).find(registry.name() + "/a:1")), Words{"private"});
  EXPECT_EQ(cmd(Client(with(wrong + "," + right)).find(registry.name() + "/a:1")),
            Words{"private"});
  for (const std::string& logins : {wrong, std::string()}) {
    Client client(with(logins));
    const LookupResult result = client.find(registry.name() + "/a:1");
    EXPECT_EQ(result.kind, Kind::failed);
    EXPECT_THAT(result.error, HasSubstr("auth"));
    EXPECT_THAT(result.error + client.log(), Not(HasSubstr("s3cret")));
    EXPECT_TRUE(client.has_no_temporary_files());
  }
}

TEST_F(RealRegistry, AnAbsentTagAndAStoppedRegistryAreErrors) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client client(config_for(registry));

  const LookupResult absent = client.find(registry.name() + "/a:2");
  ASSERT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
  registry.stop();
  const LookupResult down = client.find(registry.name() + "/b:1");

  EXPECT_EQ(absent.kind, Kind::failed);
  EXPECT_THAT(absent.error, HasSubstr("manifest unknown"));
  EXPECT_EQ(down.kind, Kind::failed);
  EXPECT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
}

TEST_F(RealRegistry, ACertificateOfAnotherCaIsRefused) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client::Config config = config_for(registry);
  config.ca = certificates_.other_ca();
  Client client(config);

  const LookupResult result = client.find(registry.name() + "/a:1");

  EXPECT_EQ(result.kind, Kind::failed);
  EXPECT_THAT(result.error, HasSubstr("the certificate is not trusted"));
}

TEST_F(RealRegistry, AnswersAHundredRequestsAtOnce) {
  RegistryServer registry(certificates_);
  for (const char* tag : {"a:1", "a:2", "a:3", "a:4", "a:5"})
    registry.push(tag, {std::string(R"({"Cmd":[")") + tag + R"("]})"});
  Client client(config_for(registry));
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

TEST_F(RealRegistry, AConfigAboveTheLimitsIsRefused) {
  RegistryServer registry(certificates_);
  registry.push("huge:1",
                {R"({"Cmd":["x"],"Labels":{"a":")" + std::string(3'000'000, 'x') + R"("}})"});
  registry.push("long:1", {R"({"Cmd":[")" + std::string(100'000, 'x') + R"("]})"});
  Client client(config_for(registry));

  EXPECT_THAT(client.find(registry.name() + "/huge:1").error, HasSubstr("larger than"));
  EXPECT_THAT(client.find(registry.name() + "/long:1").error,
              HasSubstr("has a Cmd of 100000 bytes"));
}

}  // namespace
}  // namespace cronlatch::registry
