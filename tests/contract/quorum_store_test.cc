// SPDX-License-Identifier: Apache-2.0
// The store with a quorum, on real servers: outages of a minority and of a majority, servers that
// lost their data, clocks that differ, runs that start at the same time, and fences.
#include <atomic>
#include <mutex>

#include "contract/redis_support.h"
#include "core/server_state.h"
#include "support/eventually.h"
#include "support/fault_proxy.h"
#include "support/quorum_group.h"

namespace cronlatch::testing {
namespace {

const std::string kKey = "cronlatch:{shop/report}";

StoreSpec quorum_spec(const std::string& url, Millis max_ttl = Millis(0)) {
  StoreSpec spec = spec_of(url);
  spec.max_ttl = max_ttl;  // the servers of a test have just been started
  return spec;
}

std::string field(RedisServer& server, const std::string& name) {
  return redis_command(server.port(), {"HGET", kKey, name}).text;
}

class QuorumStore : public ::testing::Test {
 protected:
  explicit QuorumStore(std::size_t servers = 3) : group(servers) {}
  RedisProgram run(const std::string& owner) {
    return RedisProgram(quorum_spec(group.url()), owner);
  }

  Fence acquired(RedisProgram& program) {
    const auto reply = program(program.program.acquire());
    if (granted_in(reply) == nullptr) ADD_FAILURE() << reply_text(reply);
    return granted_in(reply) == nullptr ? 0 : granted_in(reply)->fence;
  }
  std::size_t servers_with(const std::string& name, const std::string& value) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i].pid() != 0 && field(group[i], name) == value) ++count;
    return count;
  }

  static int scripts(const RedisServer& server) {
    auto counted = calls(server);
    return counted["eval"] + counted["evalsha"];
  }
  // Server 1 has not executed the acquire of a run that has been released on the others.
  Fence delay_acquire_on_server_1(RedisProgram& program, Millis limit) {
    // A request is sent to a server that does not answer only on an open connection.
    program(program.program.release(acquired(program)));
    EXPECT_EQ(servers_with("state", "free"), group.size());
    ++program.program.claim().attempt;
    executed_ = scripts(group[1]);
    group[1].pause();
    Acquire request = program.program.acquire();
    request.give_up = limit_ = boot_now() + limit;
    const auto granted = program(request);
    if (granted_in(granted) == nullptr) ADD_FAILURE() << reply_text(granted);
    const Fence fence = granted_in(granted) == nullptr ? 0 : granted_in(granted)->fence;
    program(program.program.release(fence));
    return fence;
  }

  QuorumGroup group;
  int executed_ = 0;
  TimePoint limit_{};
};

class QuorumStoreOfFive : public QuorumStore {
 protected:
  QuorumStoreOfFive() : QuorumStore(5) {}
};

TEST_F(QuorumStore, GrantsWithOneFenceOnAMajority) {
  RedisProgram one = run("aa"), two = run("bb");
  const Fence fence = acquired(one);
  EXPECT_GE(servers_with("fence", std::to_string(fence)), 2u);
  const auto reply = two(two.program.acquire());
  ASSERT_TRUE(reply && std::holds_alternative<Busy>(*reply)) << reply_text(reply);
  EXPECT_EQ(std::get<Busy>(*reply).holder, "host-of-aa");
  EXPECT_EQ(one.program.show().state, LockState::held);
  EXPECT_EQ(one.program.show().fence, fence);
}

TEST_F(QuorumStoreOfFive, WorksWithTwoServersDownAndNotWithThree) {
  group[0].kill_now();
  group[3].kill_now();
  RedisProgram one = run("aa");
  const Fence fence = acquired(one);
  const auto renewed = one(one.program.renew(fence));
  EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  // when
  group[4].kill_now();
  // then
  const auto lost = one(one.program.renew(fence));
  expect_unavailable(lost, {Code::unreachable, true, "has 5 servers and needs 3"});
  RedisProgram two = run("bb");
  expect_unavailable(two(two.hasty_acquire(Millis(500))),
                     {Code::unreachable, true, "3 did not execute the request"});
}

// One of five: the lock stays held, also after the server has restarted without its data.
TEST_F(QuorumStoreOfFive, KeepsTheLockWhenOneServerIsKilledAndRestartsEmpty) {
  RedisProgram one = run("aa"), two = run("bb");
  const Fence fence = acquired(one);
  const auto expect_held = [&] {
    const auto renewed = one(one.program.renew(fence));
    ASSERT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
    EXPECT_FALSE(std::get<Renewed>(*renewed).restored);
    const auto busy = two(two.program.acquire());
    ++two.program.claim().attempt;
    EXPECT_TRUE(busy && std::holds_alternative<Busy>(*busy)) << reply_text(busy);
  };
  // when, then
  group[1].kill_now();
  expect_held();
  EXPECT_EQ(servers_with("fence", std::to_string(fence)), 4u);
  // when, then
  group[1].restart();
  EXPECT_TRUE(eventually([&] {
    one(one.program.renew(fence));
    return servers_with("owner", "aa") == 5;
  }));
  expect_held();
  one(one.program.release(fence));
  EXPECT_EQ(one.program.count("runs_succeeded"), 1);
  EXPECT_EQ(breach_of_law(one.program.show(), false), "");
  EXPECT_GT(acquired(two), fence);
}

TEST_F(QuorumStoreOfFive, DoesNotWaitForAServerThatDoesNotAnswer) {
  group[2].pause();
  RedisProgram one = run("aa");
  Acquire request = one.program.acquire();
  request.give_up = boot_now() + Seconds(20);
  const TimePoint start = boot_now();
  EXPECT_NE(granted_in(one(request)), nullptr);
  EXPECT_LT(boot_now() - start, Seconds(10)) << "the limit of the request is 20 s";
  group[2].resume();
}

TEST_F(QuorumStore, RisesItsFenceOverMajoritiesThatShareOneServer) {
  Fence last = 0;
  for (std::size_t down = 0; down < 6; ++down) {
    group[down % 3].kill_now();
    RedisProgram program = run("owner-" + std::to_string(down));
    const Fence fence = acquired(program);
    EXPECT_GT(fence, last);
    last = fence;
    program(program.program.release(fence));
    group[down % 3].restart();
  }
}

// The fence of one server is far ahead, and the next majority does not contain that server.
TEST_F(QuorumStore, ConfirmsTheHighestFenceOnTheOtherServers) {
  RedisProgram one = run("aa"), two = run("bb");
  const Fence first = acquired(one);
  one(one.program.release(first));
  const Fence ahead = first + 3'600'000'000;
  redis_command(group[0].port(), {"HSET", kKey, "fence", std::to_string(ahead)});
  // given: a majority with the server whose fence is ahead
  group[2].kill_now();
  RedisProgram three = run("cc");
  const Fence second = acquired(three);
  EXPECT_GT(second, ahead);
  three(three.program.release(second));
  group[2].restart();
  // when: a majority without it
  group[0].kill_now();
  RedisProgram four = run("dd");
  // then
  EXPECT_GT(acquired(four), second);
}

// A server that restarts without its data would grant the lock that another run still holds.
TEST_F(QuorumStore, DoesNotCountAServerThatMayHaveLostTheLock) {
  RedisProgram one = run("aa");
  group[2].kill_now();
  const Fence fence = acquired(one);  // on the servers 0 and 1
  group[1].kill_now();
  group[1].restart();  // without its data
  group[2].restart();
  // then: two of three would grant it
  StoreSpec spec = quorum_spec(group.url(), std::chrono::minutes(10));
  RedisProgram two(spec, "bb");
  expect_unavailable(two(two.hasty_acquire(Seconds(1))),
                     {Code::unreachable, true, "started recently and has no record of this lock"});
  // The holder restores its record, and holds a majority again. Without server 2, which was no part
  // of the grant, the answer of the server that lost the record is one of the majority.
  group[2].kill_now();
  const auto renewed = one(one.program.renew(fence));
  ASSERT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  EXPECT_TRUE(std::get<Renewed>(*renewed).restored);
  group[2].restart();
  EXPECT_TRUE(eventually([&] {
    one(one.program.renew(fence));
    return servers_with("owner", "aa") == 3;
  }));
  const auto busy = two(two.program.acquire());
  EXPECT_TRUE(busy && std::holds_alternative<Busy>(*busy)) << reply_text(busy);
}

TEST_F(QuorumStore, LosesALeaseThatAMajorityNoLongerHas) {
  RedisProgram one = run("aa");
  const Fence fence = acquired(one);
  const auto revoked = one.program.backend().revoke("shop/report", boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_held);
  const auto reply = one(one.program.renew(fence));
  ASSERT_TRUE(reply && std::holds_alternative<NotHolder>(*reply)) << reply_text(reply);
  EXPECT_EQ(std::get<NotHolder>(*reply).reason, LostReason::revoked);
}

TEST_F(QuorumStore, KeepsTheLeaseWithAClockThatIsTwoSecondsAhead) {
  QuorumGroup clocks(3, /*has_clock=*/true);
  clocks[1].step_clock(2'000'000);
  RedisProgram one(quorum_spec(clocks.url()), "aa"), two(quorum_spec(clocks.url()), "bb");
  const Fence fence = acquired(one);
  for (int i = 0; i < 3; ++i) {
    const auto renewed = one(one.program.renew(fence));
    EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  }
  const auto busy = two(two.program.acquire());
  EXPECT_TRUE(busy && std::holds_alternative<Busy>(*busy)) << reply_text(busy);
  one(one.program.release(fence));
  ++two.program.claim().attempt;
  EXPECT_GT(acquired(two), fence);
}

// An acquire that a slow server executes after the release must not leave a lease there: its time
// limit by the server's clock has passed.
TEST_F(QuorumStore, LeavesNoLeaseOnASlowServer) {
  RedisProgram one = run("aa");
  delay_acquire_on_server_1(one, Seconds(1));
  // when
  wait_until([&] { return boot_now() > limit_; });
  group[1].resume();
  ASSERT_TRUE(eventually([&] { return scripts(group[1]) > executed_; }));
  // then
  EXPECT_EQ(field(group[1], "state"), "free");
}

// The server executes it within the limit: the next release closes the lease.
TEST_F(QuorumStore, ClosesTheLeaseOnASlowServerWithTheNextRelease) {
  RedisProgram one = run("aa");
  const Fence fence = delay_acquire_on_server_1(one, kPatience);
  group[1].resume();
  ASSERT_TRUE(eventually([&] { return field(group[1], "state") == "held"; }));
  // when
  one(one.program.release(fence));
  // then
  EXPECT_EQ(field(group[1], "state"), "free");
}

TEST_F(QuorumStore, CountsARefusalOnceOnEachServer) {
  RedisProgram one = run("aa"), two = run("bb");
  const Fence fence = acquired(one);
  const auto busy = two(two.program.acquire());
  ASSERT_TRUE(busy && std::holds_alternative<Busy>(*busy)) << reply_text(busy);
  EXPECT_EQ(one.program.count("skipped_held"), 1);
  one(one.program.release(fence));
  EXPECT_EQ(one.program.count("acquired"), 1);
  EXPECT_EQ(one.program.count("runs_succeeded"), 1);
  EXPECT_EQ(breach_of_law(one.program.show(), false), "");
}

TEST_F(QuorumStore, KnowsAFinishedIdentityFromOneServerOfTheMajority) {
  RedisProgram one = run("aa");
  one.program.identity().once = "shop/report@1";
  group[0].kill_now();
  const Fence fence = acquired(one);
  one(one.program.release(fence));
  group[0].restart();
  group[2].kill_now();
  // then: of the servers 0 and 1, only 1 has the mark
  RedisProgram two = run("bb");
  two.program.identity().once = "shop/report@1";
  const auto reply = two(two.program.acquire());
  ASSERT_TRUE(reply && std::holds_alternative<Busy>(*reply)) << reply_text(reply);
  EXPECT_EQ(std::get<Busy>(*reply).reason, BusyReason::done);
}

TEST_F(QuorumStore, IsReadFromAMajority) {
  RedisProgram one = run("aa");
  acquired(one);
  group[0].kill_now();
  const auto list = one.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().state, LockState::held);
  group[1].kill_now();
  const auto failed = one.program.backend().list(boot_now() + kPatience);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, ::testing::HasSubstr("only 1 of the quorum's 3 servers"));
}

TEST_F(QuorumStore, ReportsTheStateOfEachServerAfterARead) {
  auto opened = open_store(quorum_spec(group.url()));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto* states = dynamic_cast<const ServerStates*>(opened.value().get());
  ASSERT_NE(states, nullptr);
  EXPECT_TRUE(states->server_states().empty());
  // given: one server is unavailable, and one requires a password
  group[1].kill_now();
  redis_command(group[2].port(), {"CONFIG", "SET", "requirepass", "secret"});
  // when
  EXPECT_FALSE(opened.value()->show("shop/report", boot_now() + kPatience).ok());
  // then
  const std::vector<ServerState> now = states->server_states();
  ASSERT_EQ(now.size(), 3u);
  for (std::size_t i = 0; i < now.size(); ++i)
    EXPECT_EQ(now[i].endpoint, "127.0.0.1:" + std::to_string(group[i].port()));
  EXPECT_TRUE(now[0].up());
  EXPECT_GT(now[0].took, Micros(0));
  ASSERT_FALSE(now[1].up() || now[2].up());
  EXPECT_EQ(now[1].error->code, Code::unreachable) << now[1].error->message;
  EXPECT_EQ(now[2].error->code, Code::auth) << now[2].error->message;
}

// The race in which each run gets some of the servers: exactly one run must start.
TEST_F(QuorumStoreOfFive, GrantsOneOfManyRunsThatStartAtTheSameTime) {
  constexpr std::size_t kStarters = 20;
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::atomic<std::size_t> granted{0}, busy{0}, ready{0};
    std::mutex mutex;
    std::string others;
    std::vector<std::thread> starters;
    for (std::size_t i = 0; i < kStarters; ++i)
      starters.emplace_back([&, i] {
        RedisProgram program = run(std::to_string(repetition) + "-" + std::to_string(i));
        Acquire request = program.program.acquire();
        request.lock = "race-" + std::to_string(repetition);
        for (++ready; ready < kStarters;) std::this_thread::yield();
        request.give_up = boot_now() + Seconds(15);
        const auto reply = program(request);
        if (granted_in(reply) != nullptr)
          ++granted;
        else if (reply && std::holds_alternative<Busy>(*reply))
          ++busy;
        else {
          const std::lock_guard lock(mutex);
          others += reply_text(reply) + "\n";
        }
      });
    for (std::thread& starter : starters) starter.join();
    EXPECT_EQ(granted, 1u) << others;
    EXPECT_EQ(busy, kStarters - 1) << others;
  }
}

}  // namespace
}  // namespace cronlatch::testing
