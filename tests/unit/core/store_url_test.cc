// SPDX-License-Identifier: Apache-2.0
// Store URLs: which are accepted, which are refused, and that no error contains a password.
#include "core/store_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StoreUrl parsed(std::string_view text) {
  const auto url = parse_store_url(text);
  EXPECT_TRUE(url.ok()) << text << ": " << (url ? "" : url.error().message);
  return url ? *url : StoreUrl{};
}

std::string refusal(std::string_view text) {
  const auto url = parse_store_url(text);
  if (url) return "accepted";
  EXPECT_EQ(url.error().code, Code::config);
  EXPECT_NE(url.error().hint, "");
  return url.error().message;
}

TEST(StoreUrl, HasDefaultsForPortAndDatabase) {
  const StoreUrl url = parsed("redis://redis.example.com");
  EXPECT_EQ(url.host, "redis.example.com");
  EXPECT_EQ(url.port, 6379);
  EXPECT_EQ(url.db, 0);
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.transport, StoreTransport::plain);
  EXPECT_EQ(parsed("redis://h/").db, 0);
}

TEST(StoreUrl, IsParsedIntoItsParts) {
  const StoreUrl url = parsed("rediss://jobs@redis.data.svc.:6390/15");
  EXPECT_EQ(url.transport, StoreTransport::tls);
  EXPECT_EQ(url.user, "jobs");
  EXPECT_EQ(url.host, "redis.data.svc.");
  EXPECT_EQ(url.name(), "redis.data.svc");
  EXPECT_EQ(url.port, 6390);
  EXPECT_EQ(url.db, 15);
  EXPECT_EQ(url.where(), "redis.data.svc.:6390");
}

TEST(StoreUrl, AcceptsIpv6InBrackets) {
  const StoreUrl url = parsed("redis://jobs@[fd00::1]:7000/2");
  EXPECT_EQ(url.host, "fd00::1");
  EXPECT_EQ(url.where(), "[fd00::1]:7000");
  EXPECT_EQ(url.endpoint(), "[fd00::1]:7000");
  EXPECT_EQ(url.port, 7000);
  EXPECT_EQ(parsed("redis://[::1]").port, 6379);
}

TEST(StoreUrl, OfAFileStoreIsADirectory) {
  const StoreUrl url = parsed("file:///run/cronlatch");
  EXPECT_EQ(url.transport, StoreTransport::local);
  EXPECT_EQ(url.directory, "/run/cronlatch");
  EXPECT_EQ(url.endpoint(), "/run/cronlatch");
  EXPECT_THAT(refusal("file://run/cronlatch"), HasSubstr("absolute"));
  EXPECT_THAT(refusal("file:///run/cronlatch?ttl=1m"), HasSubstr("'?'"));
}

TEST(StoreUrl, ErrorNamesTheWrongPart) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("redis.example.com"), HasSubstr("no scheme"));
  EXPECT_THAT(refusal("http://redis"), HasSubstr("scheme"));
  EXPECT_THAT(refusal("redis://"), HasSubstr("host is missing"));
  EXPECT_THAT(refusal("redis://:6379"), HasSubstr("host is missing"));
  EXPECT_THAT(refusal("redis://h:0"), HasSubstr("port"));
  EXPECT_THAT(refusal("redis://h:65536"), HasSubstr("port"));
  EXPECT_THAT(refusal("redis://h:63x"), HasSubstr("port"));
  EXPECT_THAT(refusal("redis://h:"), HasSubstr("port"));
  EXPECT_THAT(refusal("redis://h/x"), HasSubstr("database"));
  EXPECT_THAT(refusal("redis://h/-1"), HasSubstr("database"));
  EXPECT_THAT(refusal("redis://h/1?ssl=true"), HasSubstr("'?'"));
  EXPECT_THAT(refusal("redis://h?db=1"), HasSubstr("'?'"));
  EXPECT_THAT(refusal("redis://fd00::1"), HasSubstr("brackets"));
  EXPECT_THAT(refusal("redis://[fd00::1"), HasSubstr("']'"));
  EXPECT_THAT(refusal("redis://[10.0.0.1]"), HasSubstr("not an IPv6"));
  EXPECT_THAT(refusal("redis://[::1]6379"), HasSubstr(":port"));
  EXPECT_THAT(refusal("redis://a b"), HasSubstr("character"));
  EXPECT_THAT(refusal("redis://@h"), HasSubstr("user name"));
}

TEST(StoreUrl, WithAPasswordIsRefusedAndTheErrorDoesNotContainIt) {
  for (const std::string_view text : std::initializer_list<std::string_view>{
           "redis://user:canary@h", "redis://:canary@h:1/2", "rediss://u:ca/nary@h",
           "redis://u:c@nary@h", "redis://u:canary://x@h"}) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, HasSubstr("password")) << text;
    EXPECT_THAT(message, Not(HasSubstr("nary"))) << text;
  }
}

TEST(StoreUrl, OfAReservedSchemeIsNotSupported) {
  EXPECT_EQ(refusal("postgresql://u@h/db"), "the scheme postgresql:// is written postgres://");
  EXPECT_THAT(refusal("redis://h1,h2"), HasSubstr("redis+sentinel:// or redis+cluster://"));
}

TEST(StoreUrl, OfSentinelsHasTheirHostsAndTheNameOfTheMaster) {
  const StoreUrl url = parsed("rediss+sentinel://jobs@s1,s2.:7000,[fd00::1]/my-master.1/3");
  EXPECT_EQ(url.layout, StoreLayout::sentinel);
  EXPECT_EQ(url.transport, StoreTransport::tls);
  EXPECT_EQ(url.user, "jobs");
  EXPECT_EQ(url.hosts, (std::vector<StoreHost>{{"s1", 26379}, {"s2.", 7000}, {"fd00::1", 26379}}));
  EXPECT_EQ(url.master, "my-master.1");
  EXPECT_EQ(url.db, 3);
  EXPECT_EQ(url.endpoint(), "s1:26379,s2.:7000,[fd00::1]:26379/my-master.1");
  EXPECT_EQ(parsed("redis+sentinel://s1/m/").db, 0);
}

TEST(StoreUrl, OfSentinelsNeedsTheNameOfTheMaster) {
  EXPECT_THAT(refusal("redis+sentinel://s1,s2"), HasSubstr("name of the master"));
  EXPECT_THAT(refusal("redis+sentinel://s1,s2/"), HasSubstr("name of the master"));
  EXPECT_THAT(refusal("redis+sentinel://s1/a b"), HasSubstr("letters, digits"));
  EXPECT_THAT(refusal("redis+sentinel://s1/m/x"), HasSubstr("database"));
  EXPECT_THAT(refusal("redis+sentinel://s1,,s2/m"), HasSubstr("host is missing"));
  EXPECT_THAT(refusal("redis+sentinel://s1,s1:26379/m"), HasSubstr("twice"));
  EXPECT_THAT(refusal("redis+sentinel://u:canary@s1,s2/m"), HasSubstr("password"));
}

TEST(StoreUrl, OfAClusterHasHostsAndNoDatabase) {
  const StoreUrl url = parsed("redis+cluster://n1,n2:7001");
  EXPECT_EQ(url.layout, StoreLayout::cluster);
  EXPECT_EQ(url.hosts, (std::vector<StoreHost>{{"n1", 6379}, {"n2", 7001}}));
  EXPECT_EQ(parsed("redis+cluster://n1/0").db, 0);
  EXPECT_THAT(refusal("redis+cluster://n1/1"), HasSubstr("only database 0"));
}

TEST(StoreUrl, OfAQuorumIsAListOfUrlsThatDifferInHostAndPort) {
  const StoreUrl url =
      parsed("rediss://jobs@r1/2,rediss://jobs@r2:7000/2,rediss://jobs@[fd00::1]/2");
  EXPECT_EQ(url.layout, StoreLayout::quorum);
  EXPECT_EQ(url.transport, StoreTransport::tls);
  EXPECT_EQ(url.user, "jobs");
  EXPECT_EQ(url.db, 2);
  EXPECT_EQ(url.hosts, (std::vector<StoreHost>{{"r1", 6379}, {"r2", 7000}, {"fd00::1", 6379}}));
  EXPECT_EQ(url.endpoint(), "r1:6379,r2:7000,[fd00::1]:6379");
  EXPECT_EQ(parsed("redis://a,redis://b,redis://c,redis://d,redis://e").hosts.size(), 5u);
}

TEST(StoreUrl, OfAQuorumHasThreeFiveOrSevenDifferentServers) {
  EXPECT_THAT(refusal("redis://a,redis://b"), HasSubstr("2 servers; set 3, 5 or 7"));
  EXPECT_THAT(refusal("redis://a,redis://b,redis://c,redis://d"), HasSubstr("4 servers"));
  EXPECT_THAT(refusal("redis://a,redis://b,redis://A.:6379"), HasSubstr("A.:6379 is listed twice"));
  EXPECT_THAT(refusal("redis://a,rediss://b,redis://c"), HasSubstr("the same scheme"));
  EXPECT_THAT(refusal("redis://a,redis://b/1,redis://c"), HasSubstr("database"));
  EXPECT_THAT(refusal("redis://u@a,redis://b,redis://u@c"), HasSubstr("user"));
  EXPECT_THAT(refusal("redis+sentinel://h1/m,redis://h2,redis://h3"), HasSubstr("must begin with"));
  EXPECT_THAT(refusal("redis://a,redis+cluster://b,redis://c"), HasSubstr("must begin with"));
  EXPECT_THAT(refusal("redis://a,b,redis://c"), HasSubstr("must begin with"));
}

TEST(StoreUrl, WithACommaInAPasswordIsNotPrinted) {
  const std::string message = refusal("redis://u:ca,nary://x@h");
  EXPECT_THAT(message, Not(HasSubstr("ca,"))) << message;
  EXPECT_THAT(message, Not(HasSubstr("nary"))) << message;
}

TEST(StoreUrl, HasALimitedNumberOfHosts) {
  std::string text = "redis+cluster://h";
  for (std::size_t i = 1; i < kMaxStoreHosts; ++i) text += ",h" + std::to_string(i);
  EXPECT_EQ(parsed(text).hosts.size(), kMaxStoreHosts);
  EXPECT_THAT(refusal(text + ",last"), HasSubstr("more than 32 hosts"));
}

// ---- postgres:// ----

TEST(PostgresUrl, IsParsedIntoItsParts) {
  const StoreUrl url =
      parsed("postgres://jobs@db1.example:6432,[fd00::1],db3./cronlatch?sslmode=require");
  ASSERT_TRUE(url.postgres);
  EXPECT_EQ(url.user, "jobs");
  EXPECT_EQ(url.where(), "db1.example:6432");
  EXPECT_EQ(url.endpoint(), "db1.example:6432");
  ASSERT_EQ(url.postgres->hosts.size(), 3u);
  EXPECT_EQ(url.postgres->hosts[1], (PostgresTarget::Host{"fd00::1", 5432}));
  EXPECT_EQ(url.postgres->hosts[2].host, "db3.");
  EXPECT_EQ(url.postgres->database, "cronlatch");
  EXPECT_EQ(url.postgres->sslmode, SslMode::require);
}

TEST(PostgresUrl, VerifiesTheCertificateUnlessItSaysOtherwise) {
  EXPECT_EQ(parsed("postgres://u@h/d").postgres->sslmode, SslMode::verify_full);
  EXPECT_EQ(parsed("postgres://u@h/d?sslmode=disable").postgres->sslmode, SslMode::disable);
  EXPECT_EQ(parsed("postgres://u@h/d?target_session_attrs=read-write&sslmode=verify-full")
                .postgres->sslmode,
            SslMode::verify_full);
}

TEST(PostgresUrl, ListensForAWakeUpUnlessItSaysOtherwise) {
  EXPECT_EQ(parsed("postgres://u@h/d").postgres->wake, WakeMode::listen);
  const auto poll = *parsed("postgres://u@h/d?sslmode=require&wake=poll").postgres;
  EXPECT_EQ(poll.wake, WakeMode::poll);
  EXPECT_EQ(show_postgres_target(poll), "h:5432/d?sslmode=require&wake=poll");
  EXPECT_EQ(show_postgres_target(*parsed("postgres://u@h/d?wake=poll").postgres),
            "h:5432/d?wake=poll");
}

TEST(PostgresUrl, MayHaveADatabaseWithANameThatIsNotAscii) {
  EXPECT_EQ(parsed("postgres://u@h/b\u00fcro").postgres->database, "b\u00fcro");
}

TEST(PostgresUrl, ErrorNamesTheWrongPart) {
  EXPECT_THAT(refusal("postgres://u@/d"), HasSubstr("host"));
  EXPECT_THAT(refusal("postgres://u@h1,/d"), HasSubstr("host is missing"));
  EXPECT_THAT(refusal("postgres://u@h:0/d"), HasSubstr("port"));
  EXPECT_THAT(refusal("postgres://u@h"), HasSubstr("database"));
  EXPECT_THAT(refusal("postgres://u@h/"), HasSubstr("database"));
  EXPECT_THAT(refusal("postgres://u@h/a/b"), HasSubstr("database"));
  EXPECT_THAT(refusal("postgres://u@h/a%20b"), HasSubstr("database"));
  EXPECT_THAT(refusal("postgres://u@h/a\nb"), HasSubstr("database"));
  EXPECT_THAT(refusal("postgres://u@h/d?sslmode=prefer"), HasSubstr("sslmode must be"));
  EXPECT_THAT(refusal("postgres://u@h/d?sslmode=verify-ca"), HasSubstr("sslmode must be"));
  EXPECT_THAT(refusal("postgres://u@h/d?options=-c"), HasSubstr("sslmode and wake only"));
  EXPECT_THAT(refusal("postgres://u@h/d?passfile=/x"), HasSubstr("sslmode and wake only"));
  EXPECT_THAT(refusal("postgres://u@h/d?wake=listen"), HasSubstr("wake must be poll"));
  EXPECT_THAT(refusal("postgres://u@h/d#x"), HasSubstr("'#'"));
  EXPECT_THAT(refusal("postgres://u@1,2,3,4,5,6,7,8,9/d"), HasSubstr("more than 8 hosts"));
  EXPECT_THAT(refusal("postgres://u:canary@h/d"), HasSubstr("password"));
}

std::string identity(std::string_view url, std::string_view prefix = "p:") {
  return store_identity(*parse_store_url(url), prefix);
}

TEST(StoreIdentity, IsEqualForDifferentSpellingsOfOneStore) {
  EXPECT_EQ(identity("redis://user@Redis.Example"), identity("redis://redis.example.:6379/0"));
  EXPECT_EQ(identity("redis+sentinel://b,A./m"), identity("redis+sentinel://a,b/m/0"));
  EXPECT_EQ(identity("file:///run/locks/"), identity("file:///run/locks", "other:"));
}

TEST(StoreIdentity, DiffersForDifferentStores) {
  const std::string store = identity("redis://h:6379/0");
  EXPECT_NE(store, identity("redis://g:6379/0"));
  EXPECT_NE(store, identity("redis://h:6380/0"));
  EXPECT_NE(store, identity("redis://h:6379/1"));
  EXPECT_NE(store, identity("redis://h:6379/0", "q:"));
  EXPECT_EQ(identity("postgres://u@H/d?sslmode=require"), identity("postgres://v@h.:5432/d"));
  EXPECT_EQ(identity("postgres://u@h/d?wake=poll"), identity("postgres://u@h/d"));
  EXPECT_NE(identity("postgres://u@h/d"), identity("postgres://u@h/e"));
  EXPECT_NE(identity("postgres://u@h/d"), identity("postgres://u@h,g/d"));
  EXPECT_NE(identity("postgres://u@h/d"), identity("postgres://u@h/d", "q:"));
  EXPECT_NE(identity("redis+sentinel://a,b/m"), identity("redis+sentinel://a,b/n"));
  EXPECT_NE(identity("redis+sentinel://a,b/m"), identity("redis+sentinel://a/m"));
  EXPECT_NE(identity("file:///run/a"), identity("file:///run/b"));
}

}  // namespace
}  // namespace cronlatch
