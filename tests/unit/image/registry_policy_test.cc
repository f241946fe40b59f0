// SPDX-License-Identifier: Apache-2.0
// The hosts that the operator may connect to.
#include "image/registry_policy.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace cronlatch::image {
namespace {

using ::testing::HasSubstr;
using Scheme = RegistryPolicy::Scheme;

RegistryPolicy policy(std::initializer_list<const char*> names) {
  std::vector<ListedRegistry> listed;
  for (const char* name : names) {
    const auto one = parse_listed_registry(name);
    EXPECT_TRUE(one.ok()) << name;
    if (one) listed.push_back(*one);
  }
  return RegistryPolicy(std::move(listed));
}

Status may_query(const RegistryPolicy& policy, const std::string& image) {
  const auto reference = parse_reference(image);
  return reference ? policy.allows(*reference) : Status(reference.error());
}

bool is_public_text(const std::string& text) {
  sockaddr_storage storage{};
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    std::memcpy(&storage, &four, sizeof four);
  } else if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    std::memcpy(&storage, &six, sizeof six);
  } else {
    ADD_FAILURE() << text;
  }
  return is_public(reinterpret_cast<const sockaddr&>(storage));
}

TEST(RegistryPolicy, AllowsOnlyListedRegistries) {
  const RegistryPolicy some =
      policy({"docker.io", "ghcr.io", "registry.corp:5000", "10.0.0.7:5000"});

  for (const char* image :
       {"pg:16", "team/pg", "ghcr.io/a/b", "registry.corp:5000/a", "10.0.0.7:5000/a"})
    EXPECT_TRUE(may_query(some, image).ok()) << image;
  for (const char* image :
       {"quay.io/a/b", "registry.corp/a", "registry.corp:5001/a", "ghcr.io:8443/a", "x.ghcr.io/a",
        "10.0.0.7/a", "10.0.0.8:5000/a", "localhost:5000/a"})
    EXPECT_FALSE(may_query(some, image).ok()) << image;
}

TEST(RegistryPolicy, GivesTheReasonOfARefusal) {
  const RegistryPolicy some = policy({"ghcr.io"});

  EXPECT_THAT(may_query(some, "169.254.169.254/a").error().message, HasSubstr("is an address"));
  EXPECT_THAT(may_query(some, "[fd00::1]:5000/a").error().message, HasSubstr("is an address"));
  EXPECT_THAT(may_query(some, "localhost/a").error().message, HasSubstr("is an internal name"));
  EXPECT_THAT(may_query(some, "kube.default.svc/a").error().message,
              HasSubstr("is an internal name"));
  EXPECT_THAT(may_query(some, "r.shop.svc.cluster.local:5000/a").error().message,
              HasSubstr("is an internal name"));
  EXPECT_THAT(may_query(some, "quay.io/a").error().message, HasSubstr("is not on the list"));
}

TEST(RegistryPolicy, AllowsPublicHostsOnlyOverHttpsOnPort443) {
  const RegistryPolicy some = policy({"ghcr.io", "registry.corp:5000", "http://plain.corp:5000"});

  const auto listed = some.allows(Peer{"registry.corp", 5000}, Scheme::https);
  ASSERT_TRUE(listed.ok());
  EXPECT_TRUE(listed->any_address);
  const auto blobs = some.allows(Peer{"blobs.example.com", 443}, Scheme::https);
  ASSERT_TRUE(blobs.ok());
  EXPECT_FALSE(blobs->any_address);
  EXPECT_TRUE(some.allows(Peer{"plain.corp", 5000}, Scheme::http).ok());
  EXPECT_TRUE(some.allows(Peer{"plain.corp", 5000}, Scheme::https).ok());
  for (const Peer& peer :
       {Peer{"blobs.example.com", 8443}, Peer{"10.96.0.1", 443}, Peer{"8.8.8.8", 443},
        Peer{"2001:4860:4860::8888", 443}, Peer{"2130706433", 443}, Peer{"0x7f.1", 443},
        Peer{"kubernetes.default.svc", 443}, Peer{"kubernetes.default.svc.cluster.local.", 443},
        Peer{"etcd.kube-system.svc.house.example", 443}, Peer{"kubernetes", 443},
        Peer{"metadata.google.internal", 443}, Peer{"a.localhost", 443},
        Peer{"registry.corp", 443}})
    EXPECT_FALSE(some.allows(peer, Scheme::https).ok()) << peer.host;
  EXPECT_FALSE(some.allows(Peer{"blobs.example.com", 80}, Scheme::http).ok());
  EXPECT_FALSE(some.allows(Peer{"ghcr.io", 443}, Scheme::http).ok());
}

TEST(RegistryPolicy, RecognizesPublicAddresses) {
  for (const char* one :
       {"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
        "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::101:101"})
    EXPECT_TRUE(is_public_text(one)) << one;
  for (const char* one :
       {"0.0.0.0",          "10.96.0.1",      "100.64.0.1",      "127.0.0.1",   "127.9.9.9",
        "169.254.169.254",  "172.16.0.1",     "172.31.255.255",  "192.168.1.1", "198.18.0.1",
        "203.0.113.5",      "224.0.0.1",      "255.255.255.255", "::",          "::1",
        "fe80::1",          "fd00:ec2::254",  "fc00::1",         "ff02::1",     "::ffff:10.0.0.1",
        "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::",    "2001::1",     "2001:db8::1",
        "3fff::1"})
    EXPECT_FALSE(is_public_text(one)) << one;
}

TEST(RegistryPolicy, RefusesALineThatIsNotARegistry) {
  for (const char* line :
       {"", "ghcr.io/team", "*.ghcr.io", "me@ghcr.io", "ftp://ghcr.io", "ghcr io", "http://", "pg"})
    EXPECT_FALSE(parse_listed_registry(line).ok()) << line;
  const auto plain = parse_listed_registry("http://plain.corp");
  ASSERT_TRUE(plain.ok());
  EXPECT_TRUE(plain->plain);
  EXPECT_EQ(plain->peer, (Peer{"plain.corp", 80}));
  EXPECT_EQ(parse_listed_registry("https://ghcr.io")->peer, (Peer{"ghcr.io", 443}));
}

}  // namespace
}  // namespace cronlatch::image
