// SPDX-License-Identifier: Apache-2.0
// The store of Redis Sentinel on real servers: the master is found, followed and checked.
#include "contract/redis_support.h"
#include "support/certificates.h"
#include "support/eventually.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {
namespace {

std::string at(int port) { return "127.0.0.1:" + std::to_string(port); }

class SentinelStore : public ::testing::Test {
 protected:
  // A lock of its own for each test.
  static Acquire acquire_of(const RedisProgram& run) {
    Acquire request = run.program.acquire();
    request.lock = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    return request;
  }
  SentinelGroup* group = &SentinelGroup::shared();
};

TEST_F(SentinelStore, UsesTheMasterThatTheSentinelsName) {
  RedisProgram run(spec_of(group->url()));
  const auto reply = run(acquire_of(run));
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(run.program.backend().server(), at(group->master().port()));
  EXPECT_EQ(
      redis_command(group->master().port(), {"EXISTS", "cronlatch:{" + acquire_of(run).lock + "}"})
          .integer,
      1);
}

TEST_F(SentinelStore, KeepsTheLeaseOverAFailoverByCommand) {
  RedisProgram run(spec_of(group->url()));
  const auto granted = run(acquire_of(run));
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  ASSERT_TRUE(eventually([&] { return is_replicated(group->master().port(), 2); }));
  // when
  group->fail_over();
  // then: one request follows the master
  Renew renew = run.program.renew(granted_in(granted)->fence);
  renew.lock = acquire_of(run).lock;
  const auto renewed = run(renew);
  ASSERT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  EXPECT_FALSE(std::get<Renewed>(*renewed).restored);
  EXPECT_EQ(run.program.backend().server(), at(group->master().port()));
  const auto shown = run.program.backend().show(renew.lock, boot_now() + kPatience);
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  EXPECT_EQ(shown->state, LockState::held);
}

TEST_F(SentinelStore, ReportsAnUnknownMasterAsConfiguration) {
  RedisProgram run(spec_of(group->url("", "other")));
  expect_unavailable(run(acquire_of(run)),
                     {Code::config, false, "do not know a master named other"});
}

// Two of three have decided.
TEST_F(SentinelStore, ReportsAnUnknownMasterBesideASentinelThatDoesNotAnswer) {
  group->sentinel(0).pause();
  RedisProgram run(spec_of(group->url("", "other")));
  const auto reply = run(acquire_of(run));
  group->sentinel(0).resume();
  expect_unavailable(reply, {Code::config, false, "do not know a master named other"});
}

TEST_F(SentinelStore, IsFoundBesideASentinelThatIsDown) {
  RedisProgram run(spec_of(group->url(at(free_port()))));
  const auto reply = run(acquire_of(run));
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

TEST_F(SentinelStore, IsFoundBesideASentinelThatDoesNotAnswer) {
  group->sentinel(0).pause();
  RedisProgram run(spec_of(group->url()));
  const TimePoint start = boot_now();
  const auto reply = run(acquire_of(run));
  group->sentinel(0).resume();
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_LT(boot_now() - start, Seconds(4)) << "the share of one of three, of 5 s or more";
}

TEST_F(SentinelStore, IsFoundBesideASentinelThatNamesAReplica) {
  // given: a Sentinel that names a server which is a replica
  const RedisAnswer replicas =
      redis_command(group->sentinel(0).port(), {"SENTINEL", "REPLICAS", SentinelGroup::kMaster});
  const std::string port = replicas.elements.at(0).elements.at(5).text;
  const auto liar = RedisServer::start_sentinel();
  redis_command(liar->port(),
                {"SENTINEL", "MONITOR", SentinelGroup::kMaster, "127.0.0.1", port, "3"});
  RedisProgram run(spec_of(group->url(at(liar->port()))));
  // when
  const auto reply = run(acquire_of(run));
  // then
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(run.program.backend().server(), at(group->master().port()));
  // A replica accepts reads, too.
  RedisProgram reader(spec_of(group->url(at(liar->port()))));
  EXPECT_TRUE(reader.program.backend().show(acquire_of(run).lock, boot_now() + kPatience).ok());
  EXPECT_EQ(reader.program.backend().server(), at(group->master().port()));
}

TEST_F(SentinelStore, NeverSendsThePasswordOfTheStoreToASentinel) {
  // given: the store has a password, a Sentinel has another
  StoreSpec spec = spec_of(group->url());
  spec.password = Secret("of-the-store");
  spec.sentinel_password = Secret("of-the-sentinels");
  const auto locked = RedisServer::start_sentinel({"--requirepass", "of-the-sentinels"});
  redis_command(locked->port(), {"AUTH", "of-the-sentinels"});
  RedisClient client(locked->port());
  client({"AUTH", "of-the-sentinels"});
  client({"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(group->master().port()),
          "3"});
  spec.url = "redis+sentinel://" + at(locked->port()) + "/mymaster";
  redis_command(group->master().port(),
                {"ACL", "SETUSER", "jobs", "on", ">of-the-store", "~*", "+@all"});
  spec.username = "jobs";
  // when, then
  RedisProgram run(spec);
  const auto reply = run(acquire_of(run));
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  // Neither does it after the files of the credentials were read again.
  spec.credentials_now = [] {
    StoreCredentials now;
    now.username = "jobs";
    now.password = Secret("of-the-store");
    now.sentinel_password = Secret("of-the-sentinels");
    return Result<StoreCredentials>(std::move(now));
  };
  RedisProgram rotated(spec, "cc33");
  EXPECT_TRUE(rotated.program.backend().show("any", boot_now() + kPatience).ok());
  redis_command(group->master().port(), {"CLIENT", "KILL", "USER", "jobs"});
  const auto again = rotated.program.backend().show("any", boot_now() + kPatience);
  EXPECT_TRUE(again.ok()) << again.error().message;
  spec.credentials_now = nullptr;
  spec.sentinel_password = Secret();
  RedisProgram without(spec);
  expect_unavailable(without(acquire_of(without)), {Code::auth, false, "sentinel at"});
}

TEST_F(SentinelStore, ChecksTheCertificatesOfSentinelAndMaster) {
  NEEDS_TLS_SERVER();
  // given: a Sentinel and a master with TLS; both certificates contain 127.0.0.1
  const Certificates certificates;
  const auto master = RedisServer::start_tls(certificates);
  const int port = free_port();
  const auto sentinel = RedisServer::start_sentinel(
      {"--tls-port", std::to_string(port), "--tls-cert-file", certificates.good().cert,
       "--tls-key-file", certificates.good().key, "--tls-ca-cert-file", certificates.ca(),
       "--tls-auth-clients", "no", "--tls-replication", "yes"});
  redis_command(sentinel->port(), {"SENTINEL", "MONITOR", "mymaster", "127.0.0.1",
                                   std::to_string(master->tls_port()), "1"});
  StoreSpec spec = spec_of("rediss+sentinel://" + at(port) + "/mymaster");
  spec.tls_ca = certificates.ca();
  // when, then
  RedisProgram run(spec);
  const auto reply = run(acquire_of(run));
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  // when: the certificate of the master is for another name
  redis_command(master->port(), {"CONFIG", "SET", "tls-cert-file", certificates.wrong_name().cert,
                                 "tls-key-file", certificates.wrong_name().key});
  spec.password = Secret("canary");
  RedisProgram refused(spec);
  const Unavailable wrong = unavailable_of(refused(acquire_of(refused)));
  EXPECT_EQ(wrong.error.code, Code::tls) << wrong.error.message;
  EXPECT_THAT(wrong.error.hint, ::testing::HasSubstr("announce-hostnames"));
  // when: that of the Sentinel is signed by another CA
  spec.tls_ca = certificates.other_ca();
  RedisProgram unknown(spec);
  expect_unavailable(unknown(acquire_of(unknown)), {Code::tls, false, at(port)});
}

TEST_F(SentinelStore, IsUnavailableWithoutAnySentinel) {
  RedisProgram run(
      spec_of("redis+sentinel://" + at(free_port()) + "," + at(free_port()) + "/mymaster"));
  const auto reply = run(acquire_of(run));
  expect_unavailable(reply, {Code::unreachable, true, "no Sentinel named the master mymaster"});
  EXPECT_TRUE(unavailable_of(reply).unsent);
}

TEST_F(SentinelStore, FollowsTheMasterThatAKilledOneLeaves) {
  RedisProgram run(spec_of(group->url()));
  const auto granted = run(acquire_of(run));
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  ASSERT_TRUE(eventually([&] { return is_replicated(group->master().port(), 2); }));
  RedisServer& before = group->master();
  before.kill_now();
  // when: one request lasts longer than the failover
  Renew renew = run.program.renew(granted_in(granted)->fence);
  renew.lock = acquire_of(run).lock;
  renew.give_up = boot_now() + kPatience;
  const auto renewed = run(renew);
  // then
  ASSERT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  EXPECT_NE(run.program.backend().server(), at(before.port()));
  before.restart();
  group->wait_until_stable();
}

}  // namespace
}  // namespace cronlatch::testing
