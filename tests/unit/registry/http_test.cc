// SPDX-License-Identifier: Apache-2.0
// Responses, challenges and pauses of registries, as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/challenge.h"
#include "registry/http_response.h"

namespace cronlatch::registry {
namespace {

using Body = RegistryResponseReader::Body;

// In pieces of one byte; std::nullopt: invalid, or incomplete at the end.
std::optional<RegistryResponse> read(const std::string& bytes, Body body = Body::expected) {
  RegistryResponseReader reader(body);
  for (const char c : bytes) {
    const auto complete = reader.push({&c, 1});
    if (!complete) return std::nullopt;
    if (*complete) return reader.take();
  }
  const auto complete = reader.push("");
  if (!complete || !*complete) return std::nullopt;
  return reader.take();
}

TEST(RegistryResponse, EndsByLengthByChunksAndByTheConnection) {
  const std::string start = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(read(start + "Content-Length: 3\r\n\r\nabc")->body, "abc");
  EXPECT_EQ(read(start + "\r\nabc")->body, "abc");
  EXPECT_EQ(
      read(start + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n")->body,
      "abc");
  EXPECT_EQ(read(start + "Content-Length: 3\r\n\r\n", Body::none)->body, "");
  EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\n" + start + "A: b\r\nA: c\r\n\r\n")->header("a"),
            "b, c");
}

TEST(RegistryResponse, InvalidAndLongOnesAreRefused) {
  const std::string start = "HTTP/1.1 200 OK\r\n";
  for (const std::string& bytes :
       {std::string(""), std::string("x\r\n\r\n"), std::string("HTTP/1.1 abc\r\n\r\n"),
        start + "Content-Length: 3\r\n\r\nab", start + "Content-Length: 99999999\r\n\r\n",
        start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        start + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        start + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        start + "A: " + std::string(40'000, 'x') + "\r\n\r\n",
        start + "\r\n" + std::string(70'000, 'x')})
    EXPECT_FALSE(read(bytes)) << bytes.substr(0, 80);
}

TEST(Challenge, OfBearerHasItsParameters) {
  const Challenge challenge = parse_challenge(
      R"(Basic realm="b", bEARER realm="https://a.example/t?x=1",service="s \"q\"",scope=repository:a:pull)");

  EXPECT_EQ(challenge.kind, Challenge::Kind::bearer);
  EXPECT_EQ(challenge.realm, "https://a.example/t?x=1");
  EXPECT_EQ(challenge.service, "s \"q\"");
  EXPECT_EQ(challenge.scope, "repository:a:pull");
  EXPECT_EQ(parse_challenge(R"(Basic realm="bearer x")").kind, Challenge::Kind::basic);
  EXPECT_EQ(parse_challenge("Negotiate").kind, Challenge::Kind::none);
  EXPECT_EQ(parse_challenge("").kind, Challenge::Kind::none);
}

TEST(Challenge, UrlOfATokenServerHasNoLoginAndNoControlCharacter) {
  const auto url = parse_url("https://auth.example:8443/token?a=b#c");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->is_https);
  EXPECT_EQ(url->peer, (image::Peer{"auth.example", 8443}));
  EXPECT_EQ(url->target, "/token?a=b");
  EXPECT_EQ(parse_url("http://a.example")->target, "/");
  EXPECT_EQ(parse_url("http://a.example")->peer.port, 80);
  for (const char* text : {"", "/token", "ftp://a.example/", "https://me:x@a.example/",
                           "https://a.example/\r\nX: y", "https://a.example/ b", "https://"})
    EXPECT_FALSE(parse_url(text).ok()) << text;
  EXPECT_EQ(percent_encoded("a b&c=d/\xc3\xa4~"), "a%20b%26c%3Dd%2F%C3%A4~");
}

}  // namespace
}  // namespace cronlatch::registry
