// SPDX-License-Identifier: Apache-2.0
// The option strict on a real master with a real replica: what counts as a grant, and when a server
// with another replication history grants again.
#include "contract/redis_support.h"
#include "store/init.h"
#include "support/eventually.h"
#include "support/redis_peer.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// The quarantine is 300 ms, 1 % and 700 ms.
constexpr Millis kMaxTtl{300};
constexpr Millis kQuarantine{1'003};

StoreSpec strict_spec(const std::string& url, std::size_t min_replicas) {
  StoreSpec spec = spec_of(url);
  spec.strict = StrictSettings{min_replicas, kMaxTtl};
  return spec;
}

const Quarantined* quarantined_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Quarantined>(&*reply) : nullptr;
}
bool is_renewed(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<Renewed>(*reply);
}
bool is_busy(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<Busy>(*reply);
}
std::string init(const StoreSpec& spec) {
  const Result<std::string> done = init_store(spec, boot_now() + kPatience);
  return done ? *done : done.error().message;
}
std::string record_of(const RedisServer& server) {
  return redis_command(server.port(), {"HGET", "cronlatch:{shop/report}", "owner"}).text;
}

// The first write can be part of the synchronization, up to 1 s before writes are sent one by one.
bool is_acknowledged(const RedisServer& master) {
  RedisClient client(master.port());
  for (int writes = 0; writes < 2; ++writes) {
    client({"INCR", "for-the-replica"});
    if (client({"WAIT", "1", "200"}).integer != 1) return false;
  }
  return true;
}

class StrictStore : public ::testing::Test {
 protected:
  std::unique_ptr<RedisServer> start_replica() const {
    auto replica = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(master->port())});
    EXPECT_TRUE(eventually([&] { return is_acknowledged(*master); }));
    return replica;
  }
  // The replica loses its master, and keeps what it has.
  static void cut(const RedisServer& replica) {
    redis_command(replica.port(), {"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  }
  static void promote(const RedisServer& replica) {
    redis_command(replica.port(), {"REPLICAOF", "NO", "ONE"});
  }
  StoreSpec spec(std::size_t min_replicas = 1) const {
    return strict_spec(plain_url(*master), min_replicas);
  }

  std::unique_ptr<RedisServer> master = RedisServer::start({"--repl-diskless-sync-delay", "0"});
};

TEST_F(StrictStore, BeginsWithAQuarantineThatEndsByItself) {
  RedisProgram run(spec(0));
  const TimePoint start = boot_now();
  // when
  const auto first = run(run.program.acquire());
  // then
  ASSERT_NE(quarantined_in(first), nullptr) << reply_text(first);
  EXPECT_EQ(quarantined_in(first)->remaining, kQuarantine);
  EXPECT_EQ(record_of(*master), "");
  for (;;) {
    const auto reply = run(run.program.acquire());
    const Micros passed = boot_now() - start;
    if (granted_in(reply) != nullptr) {
      EXPECT_GE(passed, kQuarantine);
      break;
    }
    ASSERT_NE(quarantined_in(reply), nullptr) << reply_text(reply);
    ASSERT_LT(passed, kQuarantine + kPatience);
    std::this_thread::sleep_for(Millis(20));
  }
}

TEST_F(StrictStore, InitRecordsTheFirstEpochOnce) {
  const auto left = [&] {
    RedisProgram reader(spec(0));
    const auto quarantine = reader.program.backend().quarantine(boot_now() + kPatience);
    return quarantine && *quarantine ? **quarantine : Micros(-1);
  };
  EXPECT_EQ(left(), kQuarantine) << "reading writes nothing";
  EXPECT_THAT(init(spec(0)), HasSubstr("is ready: the first epoch is recorded (cronlatch:epoch)"));
  EXPECT_THAT(init(spec(0)), HasSubstr("nothing was changed"));
  EXPECT_EQ(left(), Micros(0));
  RedisProgram run(spec(0));
  const auto reply = run(run.program.acquire());
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  // when: the server has another history
  redis_command(master->port(), {"HSET", "cronlatch:epoch", "replid", std::string(40, 'a')});
  // then
  EXPECT_THAT(init(spec(0)), HasSubstr("an earlier replication history"));
  EXPECT_EQ(left(), kQuarantine);
}

TEST_F(StrictStore, AGrantIsOnTheReplicaBeforeItIsReturned) {
  const auto replica = start_replica();
  init(spec());
  // given: the server has the scripts
  RedisProgram first(spec(), "bb22");
  const auto before = first(first.program.acquire());
  ASSERT_NE(granted_in(before), nullptr) << reply_text(before);
  EXPECT_TRUE(is_renewed(first(first.program.renew(granted_in(before)->fence))));
  EXPECT_EQ(first(first.program.release(granted_in(before)->fence)), Reply(Released{}));
  redis_command(master->port(), {"CONFIG", "RESETSTAT"});
  // when, then
  RedisProgram run(spec());
  const auto reply = run(run.program.acquire());
  EXPECT_EQ(record_of(*replica), "aa11");
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  const auto renewed = run(run.program.renew(granted_in(reply)->fence));
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_EQ(run(run.program.release(granted_in(reply)->fence)), Reply(Released{}));
  auto counted = calls(*master);
  EXPECT_EQ(counted["wait"], 3) << "the login, the grant, the renewal";
  EXPECT_EQ(counted["hello"], 1);
  EXPECT_EQ(counted["evalsha"], 3);
}

TEST_F(StrictStore, AGrantWithoutItsReplicaIsUncertainAndCanBeGivenBack) {
  const auto replica = start_replica();
  init(spec());
  cut(*replica);
  RedisProgram run(spec());
  Acquire request = run.program.acquire();
  request.give_up = boot_now() + Seconds(2);
  const auto reply = run(request);
  expect_unavailable(reply, {Code::unreachable, true, "0 of 1 replica acknowledged the request"});
  EXPECT_FALSE(unavailable_of(reply).unsent);
  // then: another run is not granted the lock, until this one has given it back
  RedisProgram other(spec(), "bb22");
  EXPECT_TRUE(is_busy(other(other.program.acquire())));
  EXPECT_EQ(run(run.program.release(0, RunVerdict::given_back)), Reply(Released{}));
  EXPECT_EQ(run.program.count("runs_skipped"), 1);
}

TEST_F(StrictStore, ARenewalWithoutItsReplicaIsNone) {
  const auto replica = start_replica();
  init(spec());
  RedisProgram run(spec());
  const auto granted = run(run.program.acquire());
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  cut(*replica);
  // when
  Renew request = run.program.renew(granted_in(granted)->fence);
  request.give_up = boot_now() + Seconds(2);
  const auto renewed = run(request);
  // then
  expect_unavailable(renewed, {Code::unreachable, true, "0 of 1 replica acknowledged the request"});
  redis_command(replica->port(), {"REPLICAOF", "127.0.0.1", std::to_string(master->port())});
  ASSERT_TRUE(eventually([&] { return is_acknowledged(*master); }));
  const auto again = run(run.program.renew(granted_in(granted)->fence));
  EXPECT_TRUE(is_renewed(again)) << reply_text(again);
}

TEST_F(StrictStore, AnAnswerOfWaitIsNeverTheAnswerToALaterRequest) {
  const auto replica = start_replica();
  init(spec());
  RedisProgram holder(spec(), "bb22");
  const auto held = holder(holder.program.acquire());
  ASSERT_NE(granted_in(held), nullptr) << reply_text(held);
  RedisProgram run(spec());
  // when: busy replies need no acknowledgement, so the answers of WAIT follow them
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(is_busy(run(run.program.acquire())));
  EXPECT_EQ(holder(holder.program.release(granted_in(held)->fence)), Reply(Released{}));
  ++run.program.claim().attempt;
  const auto reply = run(run.program.acquire());
  // then
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_TRUE(is_renewed(run(run.program.renew(granted_in(reply)->fence))));
}

// The answer of WAIT to a busy reply precedes that of the wake-up on the connection.
TEST_F(StrictStore, ARunThatWaitsIsWokenAndReceivesItsGrant) {
  const auto replica = start_replica();
  init(spec());
  RedisProgram holder(spec(), "bb22"), run(spec());
  const auto held = holder(holder.program.acquire());
  ASSERT_NE(granted_in(held), nullptr) << reply_text(held);
  Acquire request = run.program.acquire();
  request.if_busy = IfBusy::wait;
  ASSERT_TRUE(is_busy(run(request)));
  // when
  auto& store = run.program.backend();
  const TimePoint ends = boot_now() + Millis(1'500);
  store.listen(run.program.lock(), run.program.claim().owner, ends);
  EXPECT_EQ(holder(holder.program.release(granted_in(held)->fence)).has_value(), true);
  const TimePoint at_once = boot_now() + Millis(700);
  bool is_woken = false;
  while (!is_woken && boot_now() < at_once) {
    wait_and_step(store, at_once);
    is_woken = store.take_wake();
  }
  // then
  EXPECT_TRUE(is_woken);
  request.give_up = boot_now() + Seconds(2);
  const auto reply = run(request);
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

TEST_F(StrictStore, APromotedReplicaWithoutTheRecordGrantsNothingAndItsHolderRestoresIt) {
  const auto replica = start_replica();
  init(spec(0));
  ASSERT_TRUE(eventually([&] { return is_replicated(master->port(), 1); }));
  cut(*replica);
  RedisProgram holder(spec(0));
  const auto held = holder(holder.program.acquire());
  ASSERT_NE(granted_in(held), nullptr) << reply_text(held);
  // when
  promote(*replica);
  ASSERT_EQ(record_of(*replica), "");
  // then
  const StoreSpec there = strict_spec(plain_url(*replica), 0);
  RedisProgram other(there, "bb22");
  const auto refused = other(other.program.acquire());
  ASSERT_NE(quarantined_in(refused), nullptr) << reply_text(refused);
  RedisProgram moved(there);
  const auto renewed = moved(moved.program.renew(granted_in(held)->fence));
  ASSERT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_TRUE(std::get<Renewed>(*renewed).restored);
  std::this_thread::sleep_for(kQuarantine);
  EXPECT_TRUE(is_busy(other(other.program.acquire())));
}

TEST_F(StrictStore, APromotedReplicaRenewsTheLeasesThatItKnows) {
  const auto replica = start_replica();
  init(spec());
  RedisProgram holder(spec());
  const auto held = holder(holder.program.acquire());
  ASSERT_NE(granted_in(held), nullptr) << reply_text(held);
  // when
  promote(*replica);
  // then
  const StoreSpec there = strict_spec(plain_url(*replica), 0);
  RedisProgram moved(there);
  const auto renewed = moved(moved.program.renew(granted_in(held)->fence));
  ASSERT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_FALSE(std::get<Renewed>(*renewed).restored);
  // The renewal began the quarantine.
  EXPECT_EQ(moved(moved.program.release(granted_in(held)->fence)), Reply(Released{}));
  RedisProgram other(there, "bb22");
  const auto refused = other(other.program.acquire());
  ASSERT_NE(quarantined_in(refused), nullptr) << reply_text(refused);
  EXPECT_LT(quarantined_in(refused)->remaining, kQuarantine);
}

TEST_F(StrictStore, LostDataBeginsAQuarantine) {
  init(spec(0));
  RedisProgram run(spec(0));
  redis_command(master->port(), {"FLUSHALL"});
  const auto flushed = run(run.program.acquire());
  EXPECT_NE(quarantined_in(flushed), nullptr) << reply_text(flushed);
  redis_command(master->port(), {"FLUSHALL"});
  init(spec(0));
  // when
  master->stop();
  master->restart();
  // then
  RedisProgram later(spec(0));
  const auto restarted = later(later.program.acquire());
  EXPECT_NE(quarantined_in(restarted), nullptr) << reply_text(restarted);
}

TEST_F(StrictStore, ABackwardStepOfTheClockBlocksNoLongerThanAQuarantine) {
  const auto server = RedisServer::start_with_clock();
  const StoreSpec there = strict_spec(plain_url(*server), 0);
  RedisProgram run(there);
  EXPECT_NE(quarantined_in(run(run.program.acquire())), nullptr);
  server->step_clock(-3'600'000'000);
  const auto reply = run(run.program.acquire());
  ASSERT_NE(quarantined_in(reply), nullptr) << reply_text(reply);
  EXPECT_LE(quarantined_in(reply)->remaining, kQuarantine);
}

TEST_F(StrictStore, NamesTheRightThatIsMissing) {
  init(spec(0));
  const auto error_without = [&](const std::string& right, const std::string& keys) {
    redis_command(master->port(),
                  {"ACL", "SETUSER", "jobs", "reset", "on", ">p", keys, "+@all", right});
    StoreSpec limited = spec(0);
    limited.username = "jobs";
    limited.password = Secret("p");
    RedisProgram run(limited);
    const auto reply = run(run.program.acquire());
    EXPECT_EQ(unavailable_of(reply).error.code, Code::acl) << right;
    EXPECT_FALSE(unavailable_of(reply).transient) << right;
    EXPECT_EQ(record_of(*master), "") << right;
    return unavailable_of(reply).error.message;
  };
  EXPECT_THAT(error_without("-wait", "~*"), HasSubstr("wait"));
  EXPECT_THAT(error_without("-info", "~*"), HasSubstr("info"));
  EXPECT_THAT(error_without("+@all", "~cronlatch:{shop/*"), HasSubstr("cronlatch:epoch"));
}

TEST_F(StrictStore, RefusesAServerThatEvictsKeys) {
  init(spec(0));
  redis_command(master->port(), {"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  RedisProgram run(spec(0));
  const auto reply = run(run.program.acquire());
  expect_unavailable(reply, {Code::config, false, "maxmemory-policy is allkeys-lru"});
  EXPECT_THAT(unavailable_of(reply).error.hint, HasSubstr("noeviction"));
  EXPECT_EQ(record_of(*master), "");
}

TEST_F(StrictStore, WarnsOfAServerThatHidesItsPolicy) {
  RedisPeer peer([](const RedisPeer::Command& command) -> std::string {
    if (command.front() == "WAIT") return ":0\r\n";
    if (command.front() == "INFO") return "$8\r\n# Memory\r\n";
    if (command.front() == "EVALSHA")
      return "*5\r\n$7\r\ngranted\r\n$1\r\n7\r\n$1\r\n0\r\n$1\r\n9\r\n$1\r\n0\r\n";
    return RedisPeer::usual(command);
  });
  std::vector<std::string> warnings;
  StoreSpec hidden = strict_spec(peer.url(), 0);
  hidden.warn = [&](const LogLine& line) { warnings.push_back(line.message); };
  RedisProgram run(hidden);
  const auto reply = run(run.program.acquire());
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.front(), HasSubstr("does not show maxmemory-policy"));
}

}  // namespace
}  // namespace cronlatch::testing
