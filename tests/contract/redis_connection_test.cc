// SPDX-License-Identifier: Apache-2.0
// Connections of the Redis store to a real server: plain, over TLS with every kind of certificate,
// IPv6, database, users.
#include "contract/redis_support.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Created once: this takes longer than all other tests in this file.
const Certificates& certificates() {
  static const Certificates certificates;
  return certificates;
}

std::string tls_url(const RedisServer& server, const std::string& host = "127.0.0.1") {
  return "rediss://" + host + ":" + std::to_string(server.tls_port());
}

StoreSpec trusting(const std::string& url) {
  StoreSpec spec = spec_of(url);
  spec.tls_ca = certificates().ca();
  return spec;
}

std::unique_ptr<RedisServer> server_with(const CertFiles& files) {
  return RedisServer::start_tls(certificates(),
                                {"--tls-cert-file", files.cert, "--tls-key-file", files.key});
}

void expect_granted_and_freed(const StoreSpec& spec) {
  static int owners = 0;  // a claim is answered once
  RedisProgram run(spec, "aa" + std::to_string(++owners));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  const auto release = run(run.program.release(granted_in(reply)->fence));
  EXPECT_EQ(release, Reply(Released{})) << reply_text(release);
}

// A final error with this code, whose message contains `words`.
void expect_refused(const StoreSpec& spec, Code code, const std::string& words) {
  RedisProgram run(spec);
  const auto reply = run(run.program.acquire());
  ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(unavailable_in(reply)->error.code, code) << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.message, HasSubstr(words));
  EXPECT_NE(unavailable_in(reply)->error.hint, "");
  EXPECT_FALSE(unavailable_in(reply)->transient);
  EXPECT_TRUE(unavailable_in(reply)->unsent);
}

TEST(RedisStore, GrantsAndFreesOverPlainTcp) {
  const auto server = RedisServer::start();
  expect_granted_and_freed(spec_of(plain_url(*server)));
}

TEST(RedisStore, GrantsAndFreesOverIpv6) {
  const auto server = RedisServer::start();
  expect_granted_and_freed(spec_of("redis://[::1]:" + std::to_string(server->port())));
}

TEST(RedisStore, GrantsByNameFromTheHostsFile) {
  const auto server = RedisServer::start();
  expect_granted_and_freed(spec_of("redis://localhost:" + std::to_string(server->port())));
}

TEST(RedisStore, KeepsItsKeysInTheDatabaseOfTheUrl) {
  const auto server = RedisServer::start();
  expect_granted_and_freed(spec_of(plain_url(*server) + "/3"));
  RedisClient client(server->port());
  EXPECT_EQ(client({"DBSIZE"}).integer, 0);
  client({"SELECT", "3"});
  EXPECT_GT(client({"DBSIZE"}).integer, 0);
}

TEST(RedisStore, NamesADatabaseThatDoesNotExist) {
  const auto server = RedisServer::start();
  expect_refused(spec_of(plain_url(*server) + "/99"), Code::config, "no database 99");
}

TEST(RedisStore, LogsInAsAUserThatMayOnlyUseItsKeys) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", ">s3cret-word", "~cronlatch:*",
                                 "+@all", "-@dangerous"});
  StoreSpec spec = spec_of("redis://jobs@127.0.0.1:" + std::to_string(server->port()));
  spec.password = Secret("s3cret-word");
  expect_granted_and_freed(spec);
}

TEST(RedisStore, GrantsOverTlsByAddressAndByName) {
  NEEDS_TLS_SERVER();
  const auto server = RedisServer::start_tls(certificates());
  expect_granted_and_freed(trusting(tls_url(*server)));
  expect_granted_and_freed(trusting(tls_url(*server, "localhost")));
  expect_granted_and_freed(trusting(tls_url(*server, "[::1]")));
}

TEST(RedisStore, GrantsOverTlsWithAnRsaCertificate) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().rsa());
  expect_granted_and_freed(trusting(tls_url(*server)));
}

TEST(RedisStore, FindsItsCaAmongManyInABundle) {
  NEEDS_TLS_SERVER();
  const auto server = RedisServer::start_tls(certificates());
  StoreSpec spec = spec_of(tls_url(*server));
  spec.tls_ca = certificates().bundle();
  expect_granted_and_freed(spec);
}

TEST(RedisStore, RefusesACertificateForAnotherName) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().wrong_name());
  expect_refused(trusting(tls_url(*server)), Code::tls, "is not for 127.0.0.1 but for elsewhere");
  expect_refused(trusting(tls_url(*server, "localhost")), Code::tls, "is not for localhost");
}

TEST(RedisStore, AcceptsTheNameInTlsServerName) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().wrong_name());
  StoreSpec spec = trusting(tls_url(*server));
  spec.tls_server_name = "elsewhere.example.";
  expect_granted_and_freed(spec);
}

TEST(RedisStore, RefusesAnExpiredCertificate) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().expired());
  expect_refused(trusting(tls_url(*server)), Code::tls, "expired");
}

TEST(RedisStore, RefusesASelfSignedCertificateUnlessItIsTrusted) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().self_signed());
  expect_refused(trusting(tls_url(*server)), Code::tls, "self-signed");
  StoreSpec spec = spec_of(tls_url(*server));
  spec.tls_ca = certificates().self_signed().cert;
  expect_granted_and_freed(spec);
}

TEST(RedisStore, RefusesACertificateOfAnUnknownCa) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().unknown_ca());
  expect_refused(trusting(tls_url(*server)), Code::tls, "unknown CA");
}

TEST(RedisStore, SkipsVerificationOnlyWithTlsSkipVerify) {
  NEEDS_TLS_SERVER();
  const auto server = server_with(certificates().unknown_ca());
  StoreSpec spec = trusting(tls_url(*server));
  spec.tls_skip_verify = true;
  expect_granted_and_freed(spec);
}

TEST(RedisStore, SendsItsClientCertificate) {
  NEEDS_TLS_SERVER();
  const auto server = RedisServer::start_tls(certificates(), {"--tls-auth-clients", "yes"});
  StoreSpec spec = trusting(tls_url(*server));
  expect_refused(spec, Code::tls, "requires a client certificate");
  spec.tls_cert = certificates().client().cert;
  spec.tls_key = certificates().client().key;
  expect_granted_and_freed(spec);
  spec.tls_key = certificates().good().key;
  expect_refused(spec, Code::config, "tls-key");
}

// Redis waits for the end of a line; redis_errors_test.cc tests a server that answers.
//
TEST(RedisStore, HintsAtRedisWhenAPlainPortDoesNotAnswer) {
  const auto server = RedisServer::start();
  RedisProgram run(trusting("rediss://127.0.0.1:" + std::to_string(server->port())));
  const auto reply = run(run.hasty_acquire());
  ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.message, HasSubstr("the TLS handshake"))
      << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.hint, HasSubstr("redis://")) << reply_text(reply);
}

TEST(RedisStore, HintsAtRedissWhenAPortUsesTls) {
  NEEDS_TLS_SERVER();
  const auto server = RedisServer::start_tls(certificates());
  RedisProgram run(spec_of("redis://127.0.0.1:" + std::to_string(server->tls_port())));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.hint, HasSubstr("rediss://")) << reply_text(reply);
}

TEST(RedisStore, NamesACaFileThatCannotBeRead) {
  NEEDS_TLS_SERVER();
  const auto server = RedisServer::start_tls(certificates());
  StoreSpec spec = spec_of(tls_url(*server));
  spec.tls_ca = certificates().dir() + "/missing.crt";
  expect_refused(spec, Code::config, "missing.crt: No such file");
  spec.tls_ca = certificates().good().key;
  expect_refused(spec, Code::config, "contains no certificate");
}

TEST(RedisStore, RefusesACertificateWithoutItsKeyBeforeAnythingIsContacted) {
  StoreSpec spec = spec_of("rediss://127.0.0.1:1");
  spec.tls_cert = certificates().client().cert;
  const auto backend = open_store(spec);
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.error().code, Code::config);
}

TEST(RedisStore, ReportsThatNoServerListens) {
  RedisProgram run(spec_of("redis://127.0.0.1:" + std::to_string(free_port())));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.message, HasSubstr("Connection refused"));
  EXPECT_TRUE(unavailable_in(reply)->transient);
  EXPECT_TRUE(unavailable_in(reply)->unsent);
}

}  // namespace
}  // namespace cronlatch::testing
