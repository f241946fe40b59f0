// SPDX-License-Identifier: Apache-2.0
// The metrics of the operator with real Sentinels, a real master and real runs: a failover by
// command, a master that is killed, and Sentinels that are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator_process.h"
#include "support/sentinel_group.h"
#include "unit/operator/metrics/exported.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kAcquired[] =
    R"(cronlatch_lock_acquired_total{namespace="demo",cronjob="a",lock="demo/followed"})";

class SentinelStatsTest : public ::testing::Test {
 protected:
  static std::string up(int port) {
    return "cronlatch_store_up{endpoint=\"127.0.0.1:" + std::to_string(port) + "\"}";
  }
  bool shows(const std::string& series, double value) const {
    return eventually([&] { return Exported(op_.metrics()).at(series) == value; });
  }
  void run_once() const {
    Program run({.argv = {CRONLATCH_PROGRAM, "run", "--isolated", "--store=" + group_.url(),
                          "--lock=demo/followed", "--job=demo/a", "--ttl=15s", "--", "true"}});
    EXPECT_EQ(run.exit_code(), 0) << run.err();
  }

  SentinelGroup& group_ = SentinelGroup::shared();
  OperatorProcess op_{
      OperatorProcess::Options{.timing = {"stats-interval=20", "stats-timeout=1500", "drain=50"},
                               .store = group_.url(),
                               .more = "credentials-dir: /nonexistent\n"}};
};

TEST_F(SentinelStatsTest, FollowsTheMasterAndLosesNoCounter) {
  const int before = group_.master().port();
  ASSERT_TRUE(shows(up(before), 1)) << op_.program().err();
  run_once();
  ASSERT_TRUE(shows(kAcquired, 1));
  ASSERT_TRUE(eventually([&] { return is_replicated(before, 2); }));
  // When
  group_.fail_over();
  // Then: one series, of the master in use
  ASSERT_TRUE(shows(up(group_.master().port()), 1)) << op_.program().err();
  run_once();
  EXPECT_TRUE(shows(kAcquired, 2)) << op_.program().err();
  const std::string text = op_.metrics();
  EXPECT_THAT(text, Not(HasSubstr(up(before))));
  EXPECT_EQ(Exported(text).at("cronlatch_store_switches_total"), 1);
  EXPECT_EQ(Exported(text).at("cronlatch_store_resets_total"), 0);
  EXPECT_THAT(Exported(text).outlaws(), IsEmpty());
  EXPECT_TRUE(op_.program().complains("\"event\":\"store_switched\""));
}

TEST_F(SentinelStatsTest, ReportsTheStoreDownUntilAKilledMasterIsReplaced) {
  RedisServer& before = group_.master();
  ASSERT_TRUE(shows(up(before.port()), 1)) << op_.program().err();
  // When
  before.kill_now();
  // Then
  ASSERT_TRUE(shows(up(before.port()), 0));
  ASSERT_TRUE(eventually([&] { return group_.named_port() != before.port(); }));
  EXPECT_TRUE(shows(up(group_.named_port()), 1)) << op_.program().err();
  EXPECT_EQ(Exported(op_.metrics()).at("cronlatch_store_switches_total"), 1);
  before.restart();
  group_.wait_until_stable();
}

// The connection to the master lasts.
TEST_F(SentinelStatsTest, ReadsTheMasterWhileTheSentinelsAreDown) {
  const std::string master = up(group_.master().port());
  ASSERT_TRUE(shows(master, 1)) << op_.program().err();
  const std::string read = "cronlatch_ledger_read_timestamp_seconds";
  // When
  for (std::size_t i = 0; i < group_.sentinels(); ++i) group_.sentinel(i).kill_now();
  // Then
  const double killed = Exported(op_.metrics()).at(read);
  EXPECT_TRUE(eventually([&] { return Exported(op_.metrics()).at(read) > killed; }));
  EXPECT_EQ(Exported(op_.metrics()).at(master), 1);
  for (std::size_t i = 0; i < group_.sentinels(); ++i) group_.sentinel(i).restart();
  group_.wait_until_stable();
}

}  // namespace
}  // namespace cronlatch::testing
