// SPDX-License-Identifier: Apache-2.0
// The metrics and the status page of the operator with a quorum of real servers: each server that
// is killed, a majority that is killed, and their restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/json.h"
#include "operator_process.h"
#include "support/quorum_group.h"
#include "unit/operator/metrics/exported.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuorumStatsTest : public ::testing::Test {
 protected:
  std::string where(std::size_t i) { return "127.0.0.1:" + std::to_string(group_[i].port()); }
  bool shows(const std::string& series, double value) const {
    return eventually([&] { return Exported(op_.metrics()).at(series) == value; });
  }
  bool store_is(int up) {
    return shows(
        "cronlatch_store_up{endpoint=\"" + where(0) + "," + where(1) + "," + where(2) + "\"}", up);
  }
  bool server_is(std::size_t i, int up) {
    return shows("cronlatch_store_server_up{endpoint=\"" + where(i) + "\"}", up);
  }
  kube::Json store_on_status_page() const {
    const auto answer = op_.ask_plain(get("/status"));
    auto page = kube::parse_json(answer ? answer->body : "");
    return page ? (*page)["store"] : kube::Json::object();
  }

  QuorumGroup group_{3};
  OperatorProcess op_{
      OperatorProcess::Options{.timing = {"stats-interval=20", "stats-timeout=1500", "drain=50"},
                               .store = group_.url(),
                               .more = "credentials-dir: /nonexistent\n"}};
};

TEST_F(QuorumStatsTest, ReportsEachServer) {
  ASSERT_TRUE(store_is(1)) << op_.program().err();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(server_is(i, 1)) << i;
  const Exported now(op_.metrics());
  EXPECT_GT(now.at("cronlatch_store_server_latency_seconds{endpoint=\"" + where(1) + "\"}"), 0);
  EXPECT_THAT(now.outlaws(), IsEmpty());
  EXPECT_THAT(now.twice(), IsEmpty());
  // When: a minority
  group_[1].kill_now();
  // Then: the store works
  ASSERT_TRUE(server_is(1, 0));
  EXPECT_TRUE(store_is(1));
  EXPECT_TRUE(server_is(0, 1));
  EXPECT_TRUE(op_.program().complains("\"event\":\"store_server_down\""));
  EXPECT_GE(Exported(op_.metrics())
                .at("cronlatch_store_server_errors_total{endpoint=\"" + where(1) +
                    "\",reason=\"unreachable\"}"),
            1);
  const kube::Json store = store_on_status_page();
  EXPECT_EQ(store["up"], true);
  ASSERT_EQ(store["servers"].size(), 3U);
  EXPECT_EQ(store["servers"][0]["up"], true);
  EXPECT_EQ(kube::string_at(store["servers"][1], {"endpoint"}), where(1));
  EXPECT_EQ(store["servers"][1]["up"], false);
  // The last read can have met the end of the server, too.
  EXPECT_THAT(kube::string_at(store["servers"][1], {"error"}),
              ::testing::AnyOf(HasSubstr("refused"), HasSubstr("closed the connection")));
  // When: a majority
  group_[2].kill_now();
  // Then
  ASSERT_TRUE(store_is(0));
  EXPECT_TRUE(server_is(2, 0));
  EXPECT_TRUE(server_is(0, 1));
  EXPECT_EQ(store_on_status_page()["up"], false);
  // When: all of them run again
  group_[1].restart();
  group_[2].restart();
  // Then
  ASSERT_TRUE(store_is(1));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(server_is(i, 1)) << i;
  EXPECT_TRUE(op_.program().complains("\"event\":\"store_server_up\""));
}

}  // namespace
}  // namespace cronlatch::testing
