// SPDX-License-Identifier: Apache-2.0
// The option strict on real Sentinels with a master and two replicas: all of them acknowledge.
#include "contract/redis_support.h"
#include "store/init.h"
#include "support/eventually.h"
#include "support/redis_peer.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

constexpr Millis kMaxTtl{300};

class StrictSentinelStore : public ::testing::Test {
 protected:
  // A prefix of its own for each test: each begins with its own epoch.
  static StoreSpec spec(const std::string& url, std::size_t min_replicas) {
    StoreSpec spec = spec_of(url);
    spec.strict = StrictSettings{min_replicas, kMaxTtl};
    spec.key_prefix =
        std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ":";
    return spec;
  }
  StoreSpec ready_spec(std::size_t min_replicas = 2) {
    StoreSpec ready = spec(group->url(), min_replicas);
    const auto done = init_store(ready, boot_now() + kPatience);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return ready;
  }
  SentinelGroup* group = &SentinelGroup::shared();
};

TEST_F(StrictSentinelStore, RefusesFewerThanAllReplicasWithBothNumbers) {
  RedisProgram run(ready_spec(1));
  const auto reply = run(run.program.acquire());
  expect_unavailable(reply, {Code::config, false, "reports 2 replicas of"});
  EXPECT_THAT(unavailable_of(reply).error.message, HasSubstr("min-replicas is 1"));
  EXPECT_TRUE(unavailable_of(reply).unsent);
}

// The master itself reports its replicas: a Sentinel learns of a new one up to 10 s later.
TEST_F(StrictSentinelStore, RefusesReplicasThatTheSentinelDoesNotKnow) {
  const int master = group->master().port();
  RedisPeer sentinel([&](const RedisPeer::Command& command) -> std::string {
    const std::string port = std::to_string(master);
    if (command.front() == "HELLO")
      return "*4\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n";
    if (command.at(1) == "replicas") return "*1\r\n*0\r\n";
    return "*2\r\n$9\r\n127.0.0.1\r\n$" + std::to_string(port.size()) + "\r\n" + port + "\r\n";
  });
  (void)ready_spec();
  RedisProgram run(
      spec("redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/mymaster", 1));
  const auto reply = run(run.program.acquire());
  expect_unavailable(reply, {Code::config, false, "2 replicas are connected, min-replicas is 1"});
}

TEST_F(StrictSentinelStore, GrantsNothingAfterAFailoverAndRenews) {
  RedisProgram holder(ready_spec());
  const auto held = holder(holder.program.acquire());
  ASSERT_NE(granted_in(held), nullptr) << reply_text(held);
  // when
  group->fail_over();
  // then: the other lock is free, and is not granted
  RedisProgram other(spec(group->url(), 2), "bb22");
  Acquire request = other.program.acquire();
  request.lock = "shop/other";
  const auto refused = other(request);
  ASSERT_TRUE(refused && std::holds_alternative<Quarantined>(*refused)) << reply_text(refused);
  const auto renewed = holder(holder.program.renew(granted_in(held)->fence));
  EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  const auto left = other.program.backend().quarantine(boot_now() + kPatience);
  ASSERT_TRUE(left.ok()) << left.error().message;
  EXPECT_GT(left->value_or(Micros(0)), Micros(0));
  ASSERT_TRUE(eventually([&] {
    request.give_up = boot_now() + kPatience;
    return granted_in(other(request)) != nullptr;
  }));
}

TEST_F(StrictSentinelStore, NamesTheRightOfASentinelThatIsMissing) {
  const auto sentinel = RedisServer::start_sentinel();
  RedisClient client(sentinel->port());
  client({"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(group->master().port()),
          "1"});
  client({"ACL", "SETUSER", "jobs", "reset", "on", ">secret", "+hello", "+auth",
          "+sentinel|get-master-addr-by-name"});
  StoreSpec limited =
      spec("redis+sentinel://127.0.0.1:" + std::to_string(sentinel->port()) + "/mymaster", 2);
  limited.sentinel_username = "jobs";
  limited.sentinel_password = Secret("secret");
  RedisProgram run(limited);
  const auto reply = run(run.program.acquire());
  expect_unavailable(reply, {Code::acl, false, "replicas"});  // 6.2: SENTINEL replicas
  EXPECT_THAT(unavailable_of(reply).error.hint, HasSubstr("+sentinel|replicas"));
}

}  // namespace
}  // namespace cronlatch::testing
