// SPDX-License-Identifier: Apache-2.0
// Logins in docker config files, requests to the proxy, and skopeo's error messages.
#include "registry/logins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/json.h"
#include "registry/proxy_request.h"
#include "registry/skopeo.h"

namespace cronlatch::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

image::Reference image(const char* text) { return *image::parse_reference(text); }

std::vector<std::string> auths(const char* config, const char* of) {
  std::vector<std::string> all;
  const auto logins = logins_for(config, image(of));
  EXPECT_TRUE(logins.ok());
  if (logins)
    for (const RegistryLogin& login : *logins) all.push_back(login.auth.reveal());
  return all;
}

TEST(Logins, ThatMatchAreSortedByTheMostSpecificScope) {
  const char* config = R"({"auths":{
      "ghcr.io":{"auth":"aG9zdA=="},
      "ghcr.io/team":{"auth":"dGVhbQ=="},
      "https://ghcr.io/team/tool/v2/":{"auth":"dG9vbA=="},
      "*.io":{"auth":"c3Rhcg=="},
      "quay.io":{"auth":"cXVheQ=="},
      "ghcr.io:5000":{"auth":"cG9ydA=="},
      "ghcr.io/tea":{"auth":"dGVh"}}})";

  EXPECT_THAT(auths(config, "ghcr.io/team/tool:1"),
              ElementsAre("dG9vbA==", "dGVhbQ==", testing::AnyOf("aG9zdA==", "c3Rhcg=="),
                          testing::AnyOf("aG9zdA==", "c3Rhcg==")));
  EXPECT_THAT(auths(config, "ghcr.io:5000/a"), ElementsAre("cG9ydA=="));
  EXPECT_THAT(auths(config, "r.example/a"), ElementsAre());
}

TEST(Logins, MatchTheAliasesOfDockerHub) {
  const char* config =
      R"({"auths":{"https://index.docker.io/v1/":{"username":"me","password":"pw"}}})";

  EXPECT_THAT(auths(config, "pg:16"), ElementsAre("bWU6cHc="));
}

TEST(Logins, OfAnInvalidFileAreAnErrorWithoutItsContent) {
  const auto logins = logins_for("{\"auths\": s3cret", image("pg"));

  ASSERT_FALSE(logins.ok());
  EXPECT_THAT(logins.error().message, Not(HasSubstr("s3cret")));
}

TEST(AuthFile, ContainsOneLoginAndNoCredentialHelper) {
  const RegistryLogin login{Secret("bWU6cHc="), Secret()};

  EXPECT_EQ(auth_file(image("pg"), &login), R"({"auths":{"docker.io":{"auth":"bWU6cHc="}}})");
  EXPECT_EQ(auth_file(image("pg"), nullptr), R"({"auths":{}})");
  const RegistryLogin token{Secret(), Secret("t")};
  EXPECT_EQ(auth_file(image("pg"), &token),
            R"({"auths":{"docker.io":{"auth":"Og==","identitytoken":"t"}}})");
}

const std::string kLogin = "Proxy-Authorization: Basic bG9va3VwOnNlY3JldA==\r\n";  // lookup:secret

TEST(ProxyRequest, ParsesATunnelAndAPlainRequest) {
  const auto tunnel = parse_proxy_request(
      "CONNECT ghcr.io:443 HTTP/1.1\r\nHost: x\r\n" + kLogin + "\r\n", "secret");
  const auto plain = parse_proxy_request(
      "GET http://plain.corp:5000/v2/?a=b HTTP/1.1\r\nHost: plain.corp:5000\r\n" + kLogin +
          "Connection: keep-alive\r\nAccept: x\r\n\r\n",
      "secret");

  ASSERT_TRUE(tunnel.ok() && plain.ok());
  EXPECT_EQ(tunnel->peer, (image::Peer{"ghcr.io", 443}));
  EXPECT_EQ(tunnel->scheme, image::RegistryPolicy::Scheme::https);
  EXPECT_EQ(plain->peer, (image::Peer{"plain.corp", 5000}));
  EXPECT_EQ(plain->scheme, image::RegistryPolicy::Scheme::http);
  EXPECT_EQ(
      plain->first_bytes,
      "GET /v2/?a=b HTTP/1.1\r\nHost: plain.corp:5000\r\nAccept: x\r\nConnection: close\r\n\r\n");
}

TEST(ProxyRequest, RefusesARequestWithoutTheSecretAndAnyOtherRequest) {
  EXPECT_FALSE(parse_proxy_request("CONNECT ghcr.io:443 HTTP/1.1\r\n\r\n", "secret").ok());
  EXPECT_FALSE(
      parse_proxy_request("CONNECT ghcr.io:443 HTTP/1.1\r\n" + kLogin + "\r\n", "Secret").ok());
  for (const char* first :
       {"", "CONNECT", "CONNECT  HTTP/1.1", "CONNECT a:x HTTP/1.1", "CONNECT a:0 HTTP/1.1",
        "POST http://a/ HTTP/1.1", "GET /v2/ HTTP/1.1", "GET https://a/ HTTP/1.1",
        "GET http:///x HTTP/1.1", "GET http://me@a/ HTTP/1.1"})
    EXPECT_FALSE(parse_proxy_request(std::string(first) + "\r\n" + kLogin + "\r\n", "secret").ok())
        << first;
}

TEST(ErrorReason, IsTheLastMessageOfSkopeoWithoutItsPrefix) {
  EXPECT_EQ(
      error_reason(
          "time=\"2026\" level=warning msg=\"x\"\ntime=\"2026\" level=fatal msg=\"Error parsing "
          "image name \\\"docker://a/b\\\": manifest unknown\"\n"),
      "Error parsing image name \"docker://a/b\": manifest unknown");
  EXPECT_EQ(error_reason(""), "skopeo exited without an error message");
}

TEST(ErrorReason, ContainsNoLoginAndNoSignature) {
  const std::string reason = error_reason(
      "level=fatal msg=\"Get \\\"https://me:s3cret@s3.example/b?X-Sig=s3cret&t=1\\\": EOF\"");

  EXPECT_EQ(reason, "Get \"https://s3.example/b\": EOF");
  EXPECT_EQ(error_reason("https://me:ge@heim@s3.example/b@c and http://x@y/"),
            "https://s3.example/b@c and http://y/");
}

}  // namespace
}  // namespace cronlatch::registry
