// SPDX-License-Identifier: Apache-2.0
// Each server of a quorum: its metrics and log lines, and what the reader reports of two calls.
#include "operator/metrics/store_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exported.h"
#include "operator/metrics/lock_stats_reader.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::Exported;
using cronlatch::testing::HandClock;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Error kRefused{Code::unreachable, "redis at r2:6379: connection refused"};
const Error kDenied{Code::acl, "redis at r2:6379: NOPERM zrange"};

ServerState up(const std::string& endpoint, Micros took) {
  return {.endpoint = endpoint, .took = took};
}
ServerState down(const std::string& endpoint, const Error& error) {
  return {.endpoint = endpoint, .error = error, .took = Micros(1)};
}
std::string series(const std::string& name, const std::string& endpoint,
                   const std::string& more = "") {
  return "cronlatch_store_server_" + name + "{endpoint=\"" + endpoint + "\"" + more + "}";
}
std::string errors(const std::string& endpoint, const std::string& reason) {
  return series("errors_total", endpoint, ",reason=\"" + reason + "\"");
}

class StoreServersTest : public ::testing::Test {
 protected:
  double value(const std::string& name) const { return Exported(metrics.text()).at(name); }

  HandClock clock;
  Metrics metrics{"test"};
  std::vector<std::string> lines;
  Log log{LogFormat::logfmt, Level::info, clock,
          [this](std::string_view line) { lines.emplace_back(line); }};
  StoreServers servers{metrics, log};
};

TEST_F(StoreServersTest, HasOneSeriesForEachServer) {
  servers.report({up("r1:6379", Micros(800)), down("r2:6379", kRefused)});

  EXPECT_EQ(value(series("up", "r1:6379")), 1);
  EXPECT_EQ(value(series("up", "r2:6379")), 0);
  EXPECT_EQ(value(series("latency_seconds", "r1:6379")), 0.0008);
  EXPECT_THAT(metrics.text(), Not(HasSubstr(series("latency_seconds", "r2:6379"))));
  EXPECT_EQ(value(errors("r1:6379", "unreachable")), 0);
  EXPECT_EQ(value(errors("r2:6379", "unreachable")), 1);
  EXPECT_EQ(value(errors("r2:6379", "acl")), 0);
}

TEST_F(StoreServersTest, LogsTheBeginAndEndOfAnOutageOnce) {
  for (int i = 0; i < 3; ++i) servers.report({down("r2:6379", kRefused)});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], HasSubstr("event=store_server_down"));
  EXPECT_THAT(lines[0], HasSubstr("connection refused"));
  servers.report({down("r2:6379", kDenied)});
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("NOPERM"));
  for (int i = 0; i < 3; ++i) servers.report({up("r2:6379", Micros(1))});
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[2], HasSubstr("event=store_server_up"));
}

TEST_F(StoreServersTest, EndsTheSeriesWhileNoServerIsRequested) {
  servers.report({up("r1:6379", Micros(800)), down("r2:6379", kRefused)});

  servers.report({});

  EXPECT_THAT(metrics.text(), Not(HasSubstr("cronlatch_store_server_up{")));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("cronlatch_store_server_latency_seconds{")));
  EXPECT_EQ(value(errors("r2:6379", "unreachable")), 1) << "a counter must not restart";
}

// A quorum whose show() and list() have states of their own.
class ScriptedQuorum final : public LockStats, public ServerStates {
 public:
  ScriptedQuorum(std::vector<ServerState> show, std::vector<ServerState> list)
      : show_(std::move(show)), list_(std::move(list)) {}
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override {
    last_ = list_;
    return std::vector<LockView>{};
  }
  Result<LockView> show(const std::string&, TimePoint) override {
    last_ = show_;
    return LockView{};
  }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return Revoked{}; }
  std::vector<ServerState> server_states() const override { return last_; }

 private:
  std::vector<ServerState> show_, list_, last_;
};

TEST_F(StoreServersTest, TheReaderReportsAServerThatFailsOneOfTwoCallsAsDown) {
  const std::vector<ServerState> probed = {up("r1:6379", Micros(800)), up("r2:6379", Micros(700)),
                                           down("r3:6379", kRefused)};
  const std::vector<ServerState> listed = {up("r1:6379", Micros(90'000)), down("r2:6379", kDenied),
                                           up("r3:6379", Micros(80'000))};
  std::optional<Error> no_access;
  std::vector<LockStatsUpdate> updates;
  const auto open = [&]() -> Result<std::unique_ptr<LockStats>> {
    return std::unique_ptr<LockStats>(std::make_unique<ScriptedQuorum>(probed, listed));
  };
  const auto access = [&]() -> Result<LockStatsReader::Opened> {
    if (no_access) return *no_access;
    return LockStatsReader::Opened{1, open};
  };
  LockStatsReader reader({"r1:6379,r2:6379,r3:6379", access,
                          [&](LockStatsUpdate update) { updates.push_back(std::move(update)); },
                          metrics, clock, log});

  reader.step();

  EXPECT_EQ(value("cronlatch_store_up{endpoint=\"r1:6379,r2:6379,r3:6379\"}"), 1);
  EXPECT_EQ(value(series("up", "r1:6379")), 1);
  EXPECT_EQ(value(series("latency_seconds", "r1:6379")), 0.0008) << "of the read of one lock";
  EXPECT_EQ(value(errors("r2:6379", "acl")), 1);
  EXPECT_EQ(value(errors("r3:6379", "unreachable")), 1);
  ASSERT_THAT(updates, SizeIs(1));
  ASSERT_THAT(updates[0].servers, SizeIs(3));
  EXPECT_FALSE(updates[0].servers[1].up() || updates[0].servers[2].up());

  no_access = Error{Code::config, "credentials-dir: cannot read"};
  reader.step();

  EXPECT_THAT(updates[1].servers, SizeIs(0));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("cronlatch_store_server_up{")));
}

}  // namespace
}  // namespace cronlatch::op
