// SPDX-License-Identifier: Apache-2.0
// Names to addresses, with the test's own nameservers on 127.0.0.1; and the order in which
// addresses are tried.
#include "store/redis/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>

#include "base/kernel_clock.h"
#include "store/redis/dialer.h"
#include "support/dns_server.h"

namespace cronlatch::redis {
namespace {

using testing::DnsServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void wait_for(PollSet& set, TimePoint limit) {
  set.wake_by(limit);
  std::vector<pollfd> fds;
  for (const auto& watched : set.fds) fds.push_back({watched.fd, watched.events, 0});
  const Micros left = std::max(*set.deadline - boot_now(), Micros(0));
  poll(fds.data(), fds.size(), static_cast<int>(left.count() / 1000 + 1));
  for (std::size_t i = 0; i < fds.size(); ++i) set.fds[i].ready = fds[i].revents;
}

struct Found {
  std::vector<std::string> addresses;
  std::string error;
  Micros took{};
};

Found look_up(const std::string& host, const ResolverSettings& settings) {
  Resolver resolver(host, 6379, settings);
  const TimePoint start = boot_now();
  resolver.begin(start);
  auto answer = resolver.step(PollSet{}, start);
  while (!answer && boot_now() < start + Millis(8'000)) {
    PollSet set;
    resolver.watch(set);
    wait_for(set, start + Millis(8'000));
    answer = resolver.step(set, boot_now());
  }
  Found found;
  found.took = boot_now() - start;
  if (!answer) return found;
  if (!*answer) {
    found.error = answer->error().message;
    return found;
  }
  for (const Address& address : answer->value()) found.addresses.push_back(address.text());
  std::sort(found.addresses.begin(), found.addresses.end());
  return found;
}

ResolverSettings cluster_like(const std::string& servers) {
  ResolverSettings settings;
  settings.servers = servers;
  settings.search = {"jobs.svc.cluster.test", "svc.cluster.test", "cluster.test"};
  settings.ndots = 5;
  return settings;
}

TEST(Resolver, AcceptsIpLiterals) {
  ResolverSettings no_server;
  no_server.servers = "127.0.0.1:1";
  EXPECT_THAT(look_up("10.1.2.3", no_server).addresses, ElementsAre("10.1.2.3:6379"));
  EXPECT_THAT(look_up("fd00::1", no_server).addresses, ElementsAre("[fd00::1]:6379"));
}

TEST(Resolver, ReturnsAllAddressesOfAName) {
  DnsServer dns(DnsServer::Records{{"redis.test", {"127.0.0.2", "127.0.0.3"}}});
  EXPECT_THAT(look_up("redis.test.", cluster_like(dns.address())).addresses,
              ElementsAre("127.0.0.2:6379", "127.0.0.3:6379"));
  EXPECT_THAT(dns.questions(), ElementsAre("redis.test"));
}

TEST(Resolver, TriesTheSearchDomains) {
  DnsServer dns(DnsServer::Records{{"redis.data.svc.cluster.test", {"127.0.0.2"}}});
  EXPECT_THAT(look_up("redis.data", cluster_like(dns.address())).addresses,
              ElementsAre("127.0.0.2:6379"));
  EXPECT_THAT(dns.questions(),
              ElementsAre("redis.data.jobs.svc.cluster.test", "redis.data.svc.cluster.test"));
}

TEST(Resolver, QueriesOnlyTheNameItselfWithATrailingDot) {
  DnsServer dns(DnsServer::Records{});
  EXPECT_THAT(look_up("redis.data.", cluster_like(dns.address())).error,
              HasSubstr("does not exist"));
  EXPECT_THAT(dns.questions(), ElementsAre("redis.data"));
}

TEST(Resolver, UsesTheNextNameserverWhenOneIsDead) {
  DnsServer dead = DnsServer::silent();
  DnsServer dns(DnsServer::Records{{"redis.jobs.svc.cluster.test", {"127.0.0.2"}}});
  const Found found = look_up("redis", cluster_like(dead.address() + "," + dns.address()));
  EXPECT_THAT(found.addresses, ElementsAre("127.0.0.2:6379"));
  EXPECT_LT(found.took, Millis(5'000));  // connect-timeout, by default
}

TEST(Resolver, ReportsThatNoNameserverAnswered) {
  DnsServer dead = DnsServer::silent();
  ResolverSettings settings = cluster_like(dead.address());
  settings.try_timeout = Millis(50);
  EXPECT_THAT(look_up("redis.", settings).error, HasSubstr("no nameserver answered"));
}

TEST(Resolver, ReadsTheHostsFile) {
  DnsServer dead = DnsServer::silent();
  EXPECT_THAT(look_up("localhost", cluster_like(dead.address())).addresses,
              ::testing::Contains("127.0.0.1:6379"));
}

TEST(Resolver, ResolvesAgainEachTime) {
  DnsServer dns(DnsServer::Records{{"redis.test", {"127.0.0.2"}}});
  look_up("redis.test.", cluster_like(dns.address()));
  dns.set({{"redis.test", {"127.0.0.9"}}});
  EXPECT_THAT(look_up("redis.test.", cluster_like(dns.address())).addresses,
              ElementsAre("127.0.0.9:6379"));
}

std::vector<Address> addresses(const std::vector<std::string>& literals) {
  std::vector<Address> addresses;
  for (const auto& literal : literals) addresses.push_back(*Address::from_literal(literal, 1));
  return addresses;
}

TEST(DialOrder, AlternatesFamilies) {
  EXPECT_EQ(dial_order(addresses({"::1", "::2", "10.0.0.1", "10.0.0.2"}), {}),
            addresses({"::1", "10.0.0.1", "::2", "10.0.0.2"}));
}

TEST(DialOrder, PutsFailedAddressesLast) {
  EXPECT_EQ(dial_order(addresses({"10.0.0.1", "10.0.0.2", "10.0.0.3"}),
                       addresses({"10.0.0.1", "10.0.0.2"})),
            addresses({"10.0.0.3", "10.0.0.1", "10.0.0.2"}));
}

}  // namespace
}  // namespace cronlatch::redis
