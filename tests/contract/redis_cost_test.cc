// SPDX-License-Identifier: Apache-2.0
// The commands that a run costs, the index of locks, and LockStats on a real server.
#include "contract/redis_support.h"
#include "core/lock_json.h"

namespace cronlatch::testing {
namespace {

TEST(RedisCost, IsFourCommandsForAShortRun) {
  // given: a lock in the index
  const auto server = RedisServer::start();
  RedisProgram before(spec_of(plain_url(*server)), "bb22");
  const auto first = before(before.program.acquire());
  ASSERT_NE(granted_in(first), nullptr);
  before(before.program.release(granted_in(first)->fence));
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  run(run.program.release(granted_in(reply)->fence));
  // then: one more TIME inside each of the two scripts
  auto counted = calls(*server);
  EXPECT_EQ(counted["hello"], 1);
  EXPECT_EQ(counted["time"], 1 + 2);
  EXPECT_EQ(counted["evalsha"], 2);
  EXPECT_EQ(counted["select"] + counted["ping"] + counted["eval"] + counted["script|load"], 0);
}

TEST(RedisCost, IncludesTheScriptsTextOnlyAfterNoscript) {
  // given: a lock that was granted while the server had the scripts
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  redis_command(server->port(), {"SCRIPT", "FLUSH"});
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  const auto released = run(run.program.release(granted_in(reply)->fence));
  // then: the same attempt was sent again, and answered once
  EXPECT_EQ(released, Reply(Released{})) << reply_text(released);
  auto counted = calls(*server);
  EXPECT_EQ(counted["evalsha"], 1);
  EXPECT_EQ(counted["eval"], 1);
}

TEST(RedisIndex, ContainsALockAfterItsFirstGrant) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().lock, "shop/report");
  EXPECT_EQ(listed->front().state, LockState::held);
}

TEST(RedisIndex, IsOptionalForAUserWithoutTheRight) {
  const auto server = RedisServer::start();
  redis_command(server->port(),
                {"ACL", "SETUSER", "jobs", "on", "nopass", "~cronlatch:{*", "+@all"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(run(run.program.release(granted_in(reply)->fence)), Reply(Released{}));
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::acl);
}

TEST(RedisLockStats, ListsTheOtherLocksBesideADamagedOne) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  for (const char* lock : {"a", "b", "c", "d"}) {
    Acquire request = run.program.acquire();
    request.lock = lock;
    ASSERT_NE(granted_in(run(request)), nullptr);
  }
  redis_command(server->port(), {"HSET", "cronlatch:{b}", "fence", "soon"});
  redis_command(server->port(), {"SET", "cronlatch:{c}:stats", "text"});

  const auto listed = run.program.backend().list(boot_now() + kPatience);

  ASSERT_TRUE(listed.ok()) << listed.error().message;
  std::string states;
  for (const LockView& view : *listed)
    states += view.lock + ' ' + std::string(name_of(view.state)) + '\n';
  EXPECT_EQ(states, "a held\nb damaged\nc damaged\nd held\n");
  for (const char* lock : {"b", "c"}) {
    const auto shown = run.program.backend().show(lock, boot_now() + kPatience);
    ASSERT_FALSE(shown.ok());
    EXPECT_EQ(shown.error().code, Code::config) << shown.error().message;
  }
}

TEST(RedisIndex, OfExpiredNamesIsPurgedByTheNextGrant) {
  // given: names that were not entered for 91 days, and texts that are not names
  const auto server = RedisServer::start();
  std::vector<std::string> names{"ZADD", "cronlatch:index"};
  for (int i = 0; i < 80; ++i) {
    names.push_back(std::to_string(1'700'000'000'000'000 + i));
    names.push_back("dead/" + std::to_string(i));
  }
  redis_command(server->port(), names);
  redis_command(server->port(), {"ZADD", "cronlatch:index", "9000000000000000", "no name\xff"});
  RedisProgram run(spec_of(plain_url(*server)));
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  // then: none of them is read
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->size(), 0u);
  EXPECT_EQ(calls(*server)["hgetall"], 0);
  // when
  ASSERT_NE(granted_in(run(run.program.acquire())), nullptr);
  // then
  wait_until([&] {
    return redis_command(server->port(), {"ZCARD", "cronlatch:index"}).integer == 2;
  });
  EXPECT_NE(redis_command(server->port(), {"ZSCORE", "cronlatch:index", "shop/report"}).text, "");
}

TEST(RedisLockStats, ListsHundredsOfLocksInOrder) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  for (int i = 0; i < 450; ++i) {
    Acquire request = run.program.acquire();
    request.lock = "many/" + std::to_string(1000 + i);
    ASSERT_NE(granted_in(run(request)), nullptr);
  }
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->size(), 450u);
  EXPECT_EQ(listed->front().lock, "many/1000");
  EXPECT_EQ(listed->back().lock, "many/1449");
}

TEST(RedisLockStats, RevokesALease) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  const auto revoked = run.program.backend().revoke("shop/report", boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(run(run.program.renew(granted_in(reply)->fence)),
            Reply(NotHolder{LostReason::revoked}));
}

TEST(RedisLockStats, GivesUpInTimeOnAPausedServer) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  server->pause();
  const TimePoint start = boot_now();
  const auto shown = run.program.backend().show("shop/report", start + Millis(200));
  EXPECT_FALSE(shown.ok());
  EXPECT_GE(boot_now(), start + Millis(200));
  EXPECT_LT(boot_now(), start + kPatience);
  server->resume();
}

}  // namespace
}  // namespace cronlatch::testing
