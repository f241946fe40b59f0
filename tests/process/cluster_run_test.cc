// SPDX-License-Identifier: Apache-2.0
// Runs that hold a lock of a Redis Cluster while its hash slot moves or its master ends.
#include "shared_servers.h"
#include "store/redis/cluster_reply.h"
#include "support/cluster_group.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class ClusterRun : public OnSharedServers {
 protected:
  ClusterRun() { store = group.url(); }
  static int hash_slot() { return redis::hash_slot_of(key()); }
  RedisServer& owner() const override { return group.owner(hash_slot()); }

  ClusterGroup& group = ClusterGroup::shared();
};

TEST_F(ClusterRun, KeepsTheLockWhileItsHashSlotMoves) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  const std::string fence = field("fence");
  RedisServer& from = group.owner(hash_slot());
  RedisServer& to = group.other_master(hash_slot());
  // when: a renewal is sent during the move
  group.begin_move(hash_slot(), from, to);
  const long before = ClusterGroup::redirected_scripts(from);
  EXPECT_TRUE(eventually([&] { return ClusterGroup::redirected_scripts(from) > before; }));
  group.end_move(hash_slot(), from, to);
  // then
  ASSERT_TRUE(is_renewed_after(field("expires"))) << holder.err();
  EXPECT_EQ(field("fence"), fence);
  Program other(run(options({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(other.exit_code(), 75) << other.err();
  Program ls({.argv = {binary(), "ls", "--store", store}});
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.out(), HasSubstr(lock()));
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
}

TEST_F(ClusterRun, KeepsTheLockWhenItsMasterIsKilled) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  RedisServer& before = group.owner(hash_slot());
  ASSERT_TRUE(eventually([&] { return is_replicated(before.port(), 1); }));
  const std::string expires = field("expires");
  // when
  before.kill_now();
  // then
  EXPECT_TRUE(is_renewed_after(expires)) << holder.err();
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  before.restart();
  group.wait_until_ok();
}

TEST_F(ClusterRun, NamesTheDeniedCommandThatHasNoKey) {
  for (std::size_t i = 0; i < group.size(); ++i)
    redis_command(group.node(i).port(), {"ACL", "SETUSER", "reader", "reset", "on", ">secret", "~*",
                                         "&*", "+@all", "-cluster|slots"});
  Program ls({.argv = {binary(), "ls", "--store", store, "--redis-username", "reader"},
              .env = {"CRONLATCH_PASSWORD=secret"}});
  EXPECT_EQ(ls.exit_code(), 77);
  EXPECT_THAT(ls.err(), HasSubstr("(CLUSTER SLOTS)"));
}

TEST_F(ClusterRun, ExitsWith69ForUncoveredHashSlots) {
  const auto lonely = RedisServer::start_node();
  store = "redis+cluster://127.0.0.1:" + std::to_string(lonely->port());
  Program refused(run(options({"--connect-timeout", "1s"}), {"exit", "0"}));
  EXPECT_EQ(refused.exit_code(), 69) << refused.err();
  EXPECT_THAT(refused.err(), HasSubstr("uncovered hash slots"));
}

TEST_F(ClusterRun, EndsWhenItsLeaseIsRevoked) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  Program release({.argv = {binary(), "release", lock(), "--force", "--store", store}});
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

}  // namespace
}  // namespace cronlatch::testing
