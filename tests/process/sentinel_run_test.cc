// SPDX-License-Identifier: Apache-2.0
// Runs that hold a lock of Redis Sentinel while the master changes or the Sentinels are away.
#include "shared_servers.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class SentinelRun : public OnSharedServers {
 protected:
  SentinelRun() { store = group.url(); }
  RedisServer& owner() const override { return group.master(); }

  SentinelGroup& group = SentinelGroup::shared();
};

TEST_F(SentinelRun, KeepsTheLockOverAFailoverByCommand) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  const std::string fence = field("fence");
  // when
  group.fail_over();
  // then: it renews at the new master, and excludes others
  ASSERT_TRUE(is_renewed_after(field("expires")));
  EXPECT_EQ(field("fence"), fence);
  Program other(run(options({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(other.exit_code(), 75) << other.err();
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  Program next(run(options({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(next.exit_code(), 0) << next.err();
}

TEST_F(SentinelRun, KeepsTheLockWhenTheMasterIsKilled) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  RedisServer& before = group.master();
  ASSERT_TRUE(eventually([&] { return is_replicated(before.port(), 2); }));
  const std::string expires = field("expires");
  // when
  before.kill_now();
  // then
  ASSERT_TRUE(eventually([&] { return group.named_port() != before.port(); }));
  EXPECT_TRUE(is_renewed_after(expires)) << holder.err();
  EXPECT_TRUE(holder.complains("the store has another master")) << holder.err();
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  before.restart();
  group.wait_until_stable();
}

TEST_F(SentinelRun, ContinuesWhileTheSentinelsAreDownAndANewRunExits69) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  // when
  for (std::size_t i = 0; i < group.sentinels(); ++i) group.sentinel(i).kill_now();
  // then
  Program other(run(options({"--connect-timeout", "1s"}), {"exit", "0"}));
  EXPECT_EQ(other.exit_code(), 69) << other.err();
  EXPECT_THAT(other.err(), HasSubstr("no Sentinel named the master mymaster"));
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  for (std::size_t i = 0; i < group.sentinels(); ++i) group.sentinel(i).restart();
  group.wait_until_stable();
}

TEST_F(SentinelRun, ExitsWith78ForAMasterThatIsNotMonitored) {
  store = group.url("", "other");
  Program wrong(run(options(), {"exit", "0"}));
  EXPECT_EQ(wrong.exit_code(), 78) << wrong.err();
  EXPECT_THAT(wrong.err(), HasSubstr("the Sentinels do not know a master named other"));
}

TEST_F(SentinelRun, ListsAndReleasesLikeOneServer) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  Program ls({.argv = {binary(), "ls", "--store", store}});
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.out(), HasSubstr(lock()));
  Program release({.argv = {binary(), "release", lock(), "--force", "--store", store}});
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

}  // namespace
}  // namespace cronlatch::testing
