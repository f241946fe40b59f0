// SPDX-License-Identifier: Apache-2.0
// The reader, step by step, with scripted answers of the store.
#include "operator/metrics/lock_stats_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>

#include "base/kernel_clock.h"
#include "exported.h"
#include "support/hand_clock.h"
#include "support/program.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::eventually;
using cronlatch::testing::Exported;
using cronlatch::testing::HandClock;

const std::string kUp = R"(cronlatch_store_up{endpoint="redis.test:6379"})";

LockView named(const std::string& lock) {
  LockView view;
  view.lock = lock;
  return view;
}

struct Script {
  std::deque<Result<std::vector<LockView>>> lists;  // the last one stays
  std::size_t most = 0;                             // that was asked for
  TimePoint give_up{};
  std::string server;  // the master in use
  Result<std::optional<Micros>> quarantine = std::optional<Micros>();
};

class ScriptedLockStats final : public LockStats {
 public:
  explicit ScriptedLockStats(Script& script) : script_(script) {}
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override {
    script_.most = most;
    script_.give_up = give_up;
    auto answer = script_.lists.front();
    if (script_.lists.size() > 1) script_.lists.pop_front();
    return answer;
  }
  Result<LockView> show(const std::string& lock, TimePoint) override { return named(lock); }
  std::string server() const override { return script_.server; }
  Result<std::optional<Micros>> quarantine(TimePoint) override { return script_.quarantine; }
  Result<Revoked> revoke(const std::string&, TimePoint) override {
    ADD_FAILURE() << "the operator never takes a lease away";
    return Revoked{};
  }

 private:
  Script& script_;
};

struct Scene {
  HandClock clock;
  Metrics metrics{"test"};
  std::vector<std::string> lines;
  Log log{LogFormat::logfmt, Level::info, clock,
          [this](std::string_view line) { lines.emplace_back(line); }};
  Script script;
  std::size_t stamp = 1;
  int opened = 0;
  std::optional<Error> no_access;
  std::vector<LockStatsUpdate> news;

  LockStatsReader::Dependencies parts() {
    const auto open = [this]() -> Result<std::unique_ptr<LockStats>> {
      ++opened;
      return std::unique_ptr<LockStats>(std::make_unique<ScriptedLockStats>(script));
    };
    const auto access = [this, open]() -> Result<LockStatsReader::Opened> {
      if (no_access) return *no_access;
      return LockStatsReader::Opened{stamp, open};
    };
    return {
        "redis.test:6379", access, [this](LockStatsUpdate one) { news.push_back(std::move(one)); },
        metrics,           clock,  log};
  }
  double up() const { return Exported(metrics.text()).at(kUp); }
};

const Error kAway{Code::unreachable, "redis at redis.test:6379: connection refused"};

TEST(LockStatsReader, ExportsTheQuarantineOfAStrictStore) {
  const std::string metric = "cronlatch_store_quarantine_seconds";
  Scene scene;
  scene.script.lists = {std::vector<LockView>{}};
  LockStatsReader reader(scene.parts());
  reader.step();
  EXPECT_EQ(Exported(scene.metrics.text()).at(metric), 0) << "not strict";
  scene.script.quarantine = std::optional<Micros>(Millis(2'500));
  reader.step();
  EXPECT_EQ(Exported(scene.metrics.text()).at(metric), 2.5);
  // when: the user of the operator may not read it
  scene.script.quarantine = Error{Code::acl, "NOPERM info", ""};
  reader.step();
  reader.step();
  EXPECT_EQ(scene.up(), 1);
  EXPECT_EQ(std::count_if(scene.lines.begin(), scene.lines.end(),
                          [](const std::string& line) {
                            return line.find("quarantine_unknown") != std::string::npos;
                          }),
            1);
  scene.script.quarantine = std::optional<Micros>(Micros(0));
  reader.step();
  EXPECT_EQ(Exported(scene.metrics.text()).at(metric), 0);
}

TEST(LockStatsReader, ReportsStatisticsAndThatTheStoreIsUp) {
  Scene scene;
  scene.script.lists = {std::vector<LockView>{named("a/b")}};
  LockStatsReader reader(scene.parts());
  EXPECT_EQ(scene.up(), 0);

  reader.step();

  ASSERT_EQ(scene.news.size(), 1U);
  EXPECT_EQ(scene.news[0].locks.front().lock, "a/b");
  EXPECT_EQ(scene.news[0].error, "");
  EXPECT_EQ(scene.up(), 1);
  const Exported text(scene.metrics.text());
  EXPECT_EQ(text.at(R"(cronlatch_store_command_duration_seconds_count{command="list"})"), 1);
  EXPECT_EQ(text.at(R"(cronlatch_store_command_duration_seconds_count{command="show"})"), 1);
  EXPECT_GT(text.at("cronlatch_ledger_read_timestamp_seconds"), 1'700'000'000);
}

TEST(LockStatsReader, LimitsTimeAndLocksOfARead) {
  Scene scene;
  scene.script.lists = {std::vector<LockView>{}};
  LockStatsReader reader(scene.parts());

  reader.step();

  EXPECT_EQ(scene.script.give_up, scene.clock.now() + LockStatsTiming{}.timeout);
  EXPECT_LE(scene.script.most, 100'000U);
}

TEST(LockStatsReader, LogsTheBeginAndEndOfAnOutageOnce) {
  Scene scene;
  scene.script.lists = {kAway, kAway, kAway, std::vector<LockView>{}, std::vector<LockView>{}};
  LockStatsReader reader(scene.parts());

  for (int i = 0; i < 5; ++i) reader.step();

  ASSERT_EQ(scene.lines.size(), 2U);
  EXPECT_NE(scene.lines[0].find("event=store_down"), std::string::npos);
  EXPECT_NE(scene.lines[0].find("connection refused"), std::string::npos);
  EXPECT_NE(scene.lines[1].find("event=store_read"), std::string::npos);
  EXPECT_EQ(scene.up(), 1);
}

TEST(LockStatsReader, LogsAChangedError) {
  Scene scene;
  scene.script.lists = {kAway, Error{Code::auth, "wrong password"}};
  LockStatsReader reader(scene.parts());

  for (int i = 0; i < 3; ++i) reader.step();

  ASSERT_EQ(scene.lines.size(), 2U);
  EXPECT_NE(scene.lines[1].find("wrong password"), std::string::npos);
  EXPECT_EQ(scene.up(), 0);
}

TEST(LockStatsReader, FollowsTheMasterThatTheStoreUses) {
  Scene scene;
  scene.script.lists = {std::vector<LockView>{}};
  LockStatsReader reader(scene.parts());
  const auto up_of = [&](const std::string& server) {
    return scene.metrics.text().find("cronlatch_store_up{endpoint=\"" + server + "\"} 1") !=
           std::string::npos;
  };

  scene.script.server = "m1.test:6379";
  reader.step();
  reader.step();
  EXPECT_TRUE(up_of("m1.test:6379"));
  EXPECT_EQ(Exported(scene.metrics.text()).at("cronlatch_store_switches_total"), 0);

  scene.script.server = "m2.test:6379";
  reader.step();
  reader.step();
  EXPECT_TRUE(up_of("m2.test:6379"));
  EXPECT_EQ(Exported(scene.metrics.text()).at("cronlatch_store_switches_total"), 1);
  EXPECT_EQ(scene.metrics.text().find("m1.test"), std::string::npos);
  EXPECT_EQ(scene.metrics.text().find("redis.test"), std::string::npos);
  ASSERT_EQ(scene.lines.size(), 2U);
  EXPECT_NE(scene.lines[0].find("event=store_read"), std::string::npos);
  EXPECT_NE(scene.lines[1].find("event=store_switched"), std::string::npos);
  EXPECT_NE(scene.lines[1].find("m2.test:6379"), std::string::npos);
  ASSERT_EQ(scene.news.size(), 4U);
  for (const std::size_t without : {0U, 1U, 3U}) EXPECT_FALSE(scene.news[without].switched);
  ASSERT_TRUE(scene.news[2].switched);
  EXPECT_EQ(scene.news[2].switched->before, "m1.test:6379");
  EXPECT_EQ(scene.news[2].switched->now, "m2.test:6379");
}

TEST(LockStatsReader, KeepsItsConnectionUntilAnErrorOrNewCredentials) {
  Scene scene;
  scene.script.lists = {std::vector<LockView>{}, std::vector<LockView>{}, std::vector<LockView>{},
                        kAway, std::vector<LockView>{}};
  LockStatsReader reader(scene.parts());

  reader.step();
  reader.step();
  EXPECT_EQ(scene.opened, 1);
  scene.stamp = 2;
  reader.step();
  EXPECT_EQ(scene.opened, 2);
  reader.step();  // fails
  reader.step();
  EXPECT_EQ(scene.opened, 3);
}

TEST(LockStatsReader, ReportsDownWhenCredentialsCannotBeRead) {
  Scene scene;
  scene.script.lists = {std::vector<LockView>{}};
  scene.no_access = Error{Code::config, "credentials-dir: cannot read", "check its mode"};
  LockStatsReader reader(scene.parts());

  reader.step();

  EXPECT_EQ(scene.up(), 0);
  EXPECT_EQ(scene.news[0].error, "credentials-dir: cannot read");
}

TEST(LockStatsReader, ReadsUntilItIsStopped) {
  KernelClock clock;
  Metrics metrics("test");
  const Log log(LogFormat::text, Level::error, clock, [](std::string_view) {});
  Script script;
  script.lists = {std::vector<LockView>{}};
  std::atomic<int> readings{0};
  const auto open = [&]() -> Result<std::unique_ptr<LockStats>> {
    return std::unique_ptr<LockStats>(std::make_unique<ScriptedLockStats>(script));
  };
  LockStatsReader reader({"x",
                          [&]() -> Result<LockStatsReader::Opened> {
                            return LockStatsReader::Opened{1, open};
                          },
                          [&](LockStatsUpdate) { ++readings; },
                          metrics,
                          clock,
                          log,
                          {.interval = Millis(1), .timeout = Millis(1'000)}});

  reader.start();

  EXPECT_TRUE(eventually([&] { return readings > 3; }));
  reader.stop();  // returns
}

TEST(LockStatsReader, ReportsProgressInEachRoundAlsoWithoutTheStore) {
  Scene scene;
  scene.script.lists = {kAway};
  std::atomic<int> rounds{0};
  LockStatsReader::Dependencies parts = scene.parts();
  parts.timing.interval = Millis(1);
  parts.on_progress = [&] { ++rounds; };
  LockStatsReader reader(std::move(parts));

  reader.start();

  EXPECT_TRUE(eventually([&] { return rounds >= 3; }));
  reader.stop();
  EXPECT_EQ(scene.up(), 0);
}

}  // namespace
}  // namespace cronlatch::op
