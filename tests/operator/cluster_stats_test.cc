// SPDX-License-Identifier: Apache-2.0
// The metrics of the operator with a real Redis Cluster and real runs: locks on every master, a
// hash slot that moves, and a master that is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "operator_process.h"
#include "store/redis/cluster_reply.h"
#include "support/cluster_group.h"
#include "unit/operator/metrics/exported.h"

namespace cronlatch::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClusterStatsTest : public ::testing::Test {
 protected:
  static int hash_slot_of(const std::string& name) {
    return redis::hash_slot_of("cronlatch:{demo/" + name + "}");
  }
  static std::string acquired(const std::string& name) {
    return R"(cronlatch_lock_acquired_total{namespace="demo",cronjob=")" + name +
           R"(",lock="demo/)" + name + "\"}";
  }
  std::string up() const {
    const std::string hosts = group_.url().substr(group_.url().find("//") + 2);
    return "cronlatch_store_up{endpoint=\"" + hosts + "\"}";
  }
  bool shows(const std::string& series, double value) const {
    return eventually([&] { return Exported(op_->metrics()).at(series) == value; });
  }
  void run_once(const std::string& name) const {
    Program run({.argv = {CRONLATCH_PROGRAM, "run", "--isolated", "--store=" + group_.url(),
                          "--lock=demo/" + name, "--job=demo/" + name, "--ttl=15s", "--", "true"}});
    EXPECT_EQ(run.exit_code(), 0) << run.err();
  }

  void start_operator() {
    op_.emplace(
        OperatorProcess::Options{.timing = {"stats-interval=20", "stats-timeout=1500", "drain=50"},
                                 .store = group_.url(),
                                 .more = "credentials-dir: /nonexistent\n"});
  }

  ClusterGroup& group_ = ClusterGroup::shared();
  std::optional<OperatorProcess> op_;
};

TEST_F(ClusterStatsTest, ExportsTheLocksOfEveryMaster) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  std::set<int> masters;
  for (const std::string& name : names) {
    masters.insert(group_.owner(hash_slot_of(name)).port());
    run_once(name);
  }
  ASSERT_THAT(masters, SizeIs(3));
  start_operator();
  ASSERT_TRUE(shows(up(), 1)) << op_->program().err();
  for (const std::string& name : names)
    EXPECT_TRUE(shows(acquired(name), 1)) << name << "\n" << op_->program().err();
  EXPECT_THAT(Exported(op_->metrics()).outlaws(), IsEmpty());
  EXPECT_THAT(Exported(op_->metrics()).twice(), IsEmpty());
}

TEST_F(ClusterStatsTest, FindsANewLockSoonAfterItsFirstRun) {
  start_operator();
  ASSERT_TRUE(shows(up(), 1)) << op_->program().err();
  run_once("new");
  EXPECT_TRUE(shows(acquired("new"), 1)) << op_->program().err();
}

TEST_F(ClusterStatsTest, KeepsTheCountersOfAHashSlotThatMoves) {
  run_once("moved");
  start_operator();
  ASSERT_TRUE(shows(up(), 1)) << op_->program().err();
  ASSERT_TRUE(shows(acquired("moved"), 1));
  const int hash_slot = hash_slot_of("moved");
  RedisServer& from = group_.owner(hash_slot);
  RedisServer& to = group_.other_master(hash_slot);
  // When
  group_.begin_move(hash_slot, from, to);
  group_.end_move(hash_slot, from, to);
  run_once("moved");
  // Then
  EXPECT_TRUE(shows(acquired("moved"), 2)) << op_->program().err();
  EXPECT_EQ(Exported(op_->metrics()).at("cronlatch_store_resets_total"), 0);
}

TEST_F(ClusterStatsTest, KeepsEachCounterWhileAKilledMasterIsReplaced) {
  run_once("kept");
  start_operator();
  ASSERT_TRUE(shows(up(), 1)) << op_->program().err();
  ASSERT_TRUE(shows(acquired("kept"), 1));
  RedisServer& before = group_.owner(hash_slot_of("kept"));
  ASSERT_TRUE(eventually([&] { return is_replicated(before.port(), 1); }));
  // When
  before.kill_now();
  // Then: the locks of one master cannot be read, and no figure is lowered
  ASSERT_TRUE(shows(up(), 0));
  EXPECT_EQ(Exported(op_->metrics()).at(acquired("kept")), 1);
  // Then
  ASSERT_TRUE(shows(up(), 1)) << op_->program().err();
  EXPECT_EQ(Exported(op_->metrics()).at(acquired("kept")), 1);
  EXPECT_EQ(Exported(op_->metrics()).at("cronlatch_store_resets_total"), 0);
  before.restart();
  group_.wait_until_ok();
}

}  // namespace
}  // namespace cronlatch::testing
