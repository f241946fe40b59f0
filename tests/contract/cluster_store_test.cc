// SPDX-License-Identifier: Apache-2.0
// The store of a Redis Cluster on real servers: the node of a lock is found, also while its hash
// slot moves, and every lock is listed.
#include <set>

#include "contract/redis_support.h"
#include "core/shared_key.h"
#include "store/redis/cluster_reply.h"
#include "support/cluster_group.h"
#include "support/eventually.h"

namespace cronlatch::testing {
namespace {

using redis::hash_slot_of;

class ClusterStore : public ::testing::Test {
 protected:
  static std::string lock() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static int hash_slot() { return hash_slot_of("cronlatch:{" + lock() + "}"); }
  static Acquire acquire_of(const RedisProgram& run, const std::string& name = lock()) {
    Acquire request = run.program.acquire();
    request.lock = name;
    return request;
  }
  static Renew renew_of(const RedisProgram& run, const std::optional<Reply>& granted) {
    Renew request = run.program.renew(granted_in(granted) ? granted_in(granted)->fence : 0);
    request.lock = lock();
    return request;
  }
  static bool is_renewed(const std::optional<Reply>& reply) {
    return reply && std::holds_alternative<Renewed>(*reply) && !std::get<Renewed>(*reply).restored;
  }
  ClusterGroup* group = &ClusterGroup::shared();
  StoreSpec spec = spec_of(group->url());
};

TEST_F(ClusterStore, FindsTheNodeOfEachLock) {
  RedisProgram run(spec);
  std::set<int> nodes;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    const auto reply = run(acquire_of(run, lock() + name));
    ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
    const std::string key = "cronlatch:{" + lock() + name + "}";
    RedisServer& owner = group->owner(hash_slot_of(key));
    EXPECT_EQ(redis_command(owner.port(), {"EXISTS", key}).integer, 1);
    nodes.insert(owner.port());
  }
  EXPECT_EQ(nodes.size(), 3U) << "the names are chosen so that they are on all masters";
  // the keys that the server has are in the hash slot that hash_slot_of() returns
  const RedisAnswer hash_slot_of_server =
      redis_command(group->node(0).port(), {"CLUSTER", "KEYSLOT", "cronlatch:{" + lock() + "}"});
  EXPECT_EQ(hash_slot_of_server.integer, hash_slot());
}

TEST_F(ClusterStore, FollowsAHashSlotThatWasMovedWhileTheLockIsHeld) {
  RedisProgram run(spec);
  const auto granted = run(acquire_of(run));
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  RedisServer& from = group->owner(hash_slot());
  RedisServer& to = group->other_master(hash_slot());
  // when
  group->begin_move(hash_slot(), from, to);
  group->end_move(hash_slot(), from, to);
  // then
  const auto renewed = run(renew_of(run, granted));
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_EQ(redis_command(to.port(), {"EXISTS", "cronlatch:{" + lock() + "}"}).integer, 1);
}

TEST_F(ClusterStore, WaitsForTheEndOfAMoveWithinTheDeadline) {
  RedisProgram run(spec);
  const auto granted = run(acquire_of(run));
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  RedisServer& from = group->owner(hash_slot());
  RedisServer& to = group->other_master(hash_slot());
  group->begin_move(hash_slot(), from, to);
  // when: the move ends after the node has refused the request
  const long before = ClusterGroup::redirected_scripts(from);
  bool is_refused = false;
  std::jthread mover([&] {
    is_refused = eventually([&] { return ClusterGroup::redirected_scripts(from) > before; });
    group->end_move(hash_slot(), from, to);
  });
  const auto renewed = run(renew_of(run, granted));
  mover.join();
  // then
  EXPECT_TRUE(is_refused) << "the request was not sent during the move";
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
}

TEST_F(ClusterStore, ReportsAMoveThatDoesNotEndAsNotExecuted) {
  RedisProgram run(spec);
  ASSERT_NE(granted_in(run(acquire_of(run))), nullptr);
  RedisServer& from = group->owner(hash_slot());
  RedisServer& to = group->other_master(hash_slot());
  group->begin_move(hash_slot(), from, to);
  // when: a run with another group, whose key is on neither node
  RedisProgram other(spec, "bb22");
  Acquire request = acquire_of(other);
  request.give_up = boot_now() + Millis(600);
  const auto reply = other(request);
  // then
  EXPECT_EQ(unavailable_of(reply).error.code, Code::unreachable) << reply_text(reply);
  EXPECT_TRUE(unavailable_of(reply).transient);
  EXPECT_TRUE(unavailable_of(reply).unsent);
  group->end_move(hash_slot(), from, to);
}

TEST_F(ClusterStore, ListsTheLocksOfAllMasters) {
  spec.key_prefix = "listed:";
  RedisProgram run(spec);
  std::set<std::string> names;
  for (int i = 0; i < 30; ++i) {
    names.insert("n/" + std::to_string(i));
    ASSERT_NE(granted_in(run(acquire_of(run, "n/" + std::to_string(i)))), nullptr);
  }
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  std::set<std::string> found;
  for (const LockView& view : *listed) {
    EXPECT_EQ(view.state, LockState::held) << view.lock;
    found.insert(view.lock);
  }
  EXPECT_EQ(found, names);
  EXPECT_EQ(listed->size(), names.size());
}

// All keys of the lock are in the hash slot of the other program's key, and the scan returns its
// name.
TEST_F(ClusterStore, SharesAKeyWithAnotherProgramInItsHashSlot) {
  spec.key_prefix = "sharing:";
  RedisProgram run(spec);
  for (const std::string name : {"_cronlock/cronlock.report", "_redlock/locks_3areport"}) {
    const std::string key = shared_key_of_lock(name)->key;
    RedisServer& owner = group->owner(hash_slot_of(key));
    ASSERT_NE(granted_in(run(acquire_of(run, name))), nullptr);
    EXPECT_EQ(redis_command(owner.port(), {"EXISTS", key}).integer, 1);
    const auto view = run.program.backend().show(name, boot_now() + kPatience);
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view->state, LockState::held);
    EXPECT_NE(view->fence, 0U);

    redis_command(owner.port(), {"SET", key, "9999999999"});
    Renew renewal = run.program.renew(view->fence);
    renewal.lock = name;
    const auto lost = run(renewal);
    ASSERT_TRUE(lost && std::holds_alternative<NotHolder>(*lost)) << reply_text(lost);
  }
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ(listed->front().lock, "_cronlock/cronlock.report");
}

// Other programs know one holder only. The refusal does not depend on the support of slots.
TEST_F(ClusterStore, RefusesSlotsForASharedKey) {
  RedisProgram run(spec);
  Acquire request = acquire_of(run, "_redlock/locks");
  request.slots = 2;
  const auto reply = run(request);
  EXPECT_EQ(unavailable_of(reply).error.code, Code::config);
  EXPECT_NE(unavailable_of(reply).error.message.find("key-format has one holder only"),
            std::string::npos);
  EXPECT_TRUE(unavailable_of(reply).unsent);
}

TEST_F(ClusterStore, ListsTheSameLocksWhileAHashSlotMoves) {
  spec.key_prefix = "moving:";
  const int at = hash_slot_of("moving:{one}");
  RedisProgram run(spec);
  for (const char* name : {"one", "two", "three"})
    ASSERT_NE(granted_in(run(acquire_of(run, name))), nullptr);
  ASSERT_TRUE(run.program.backend().list(boot_now() + kPatience).ok());
  RedisServer& from = group->owner(at);
  RedisServer& to = group->other_master(at);
  group->begin_move(at, from, to);
  redis_command(from.port(),
                {"MIGRATE", "127.0.0.1", std::to_string(to.port()), "moving:{one}", "0", "5000"});
  // when: the record is on another node than the owner of the hash slot
  const auto listed = run.program.backend().list(boot_now() + Seconds(2));
  // then: an error or all of them, and never a part
  if (listed.ok()) {
    EXPECT_EQ(listed->size(), 3U);
    EXPECT_EQ(listed->front().state, LockState::held);
  }
  group->end_move(at, from, to);
  const auto after = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(after->size(), 3U);
}

TEST_F(ClusterStore, ShowsALockWhoseKeysAreOnTheNextNodeBeforeTheMoveEnds) {
  RedisProgram run(spec);
  ASSERT_NE(granted_in(run(acquire_of(run))), nullptr);
  RedisServer& from = group->owner(hash_slot());
  RedisServer& to = group->other_master(hash_slot());
  group->begin_move(hash_slot(), from, to);
  const RedisAnswer keys =
      redis_command(from.port(), {"CLUSTER", "GETKEYSINSLOT", std::to_string(hash_slot()), "100"});
  for (const RedisAnswer& key : keys.elements)
    redis_command(from.port(),
                  {"MIGRATE", "127.0.0.1", std::to_string(to.port()), key.text, "0", "5000"});
  // when
  const auto shown = run.program.backend().show(lock(), boot_now() + Seconds(5));
  // then
  EXPECT_TRUE(shown.ok()) << shown.error().message;
  if (shown.ok()) {
    EXPECT_EQ(shown->state, LockState::held);
  }
  group->end_move(hash_slot(), from, to);
}

TEST_F(ClusterStore, RefusesAServerThatIsNoNode) {
  const auto single = RedisServer::start();
  RedisProgram run(spec_of("redis+cluster://127.0.0.1:" + std::to_string(single->port())));
  expect_unavailable(run(acquire_of(run)),
                     {Code::config, false, "is not a node of a Redis Cluster"});
}

TEST_F(ClusterStore, OfUncoveredHashSlotsIsUnavailableWithAClearError) {
  // given: a node that has no hash slots
  const auto lonely = RedisServer::start_node();
  RedisProgram run(spec_of("redis+cluster://127.0.0.1:" + std::to_string(lonely->port())));
  Acquire request = acquire_of(run);
  request.give_up = boot_now() + Millis(500);
  // when, then
  const auto reply = run(request);
  expect_unavailable(reply, {Code::unreachable, true, "uncovered hash slots"});
  EXPECT_TRUE(unavailable_of(reply).unsent);
  const auto listed = run.program.backend().list(boot_now() + Millis(500));
  ASSERT_FALSE(listed.ok());
  EXPECT_THAT(listed.error().message, ::testing::HasSubstr("hash slots without a master"));
}

TEST_F(ClusterStore, FollowsTheReplicaThatReplacesAKilledMaster) {
  RedisProgram run(spec);
  const auto granted = run(acquire_of(run));
  ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
  RedisServer& before = group->owner(hash_slot());
  ASSERT_TRUE(eventually([&] { return is_replicated(before.port(), 1); }));
  before.kill_now();
  // when: one request lasts longer than the election
  const auto renewed = run(renew_of(run, granted));
  // then
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  before.restart();
  group->wait_until_ok();
}

}  // namespace
}  // namespace cronlatch::testing
