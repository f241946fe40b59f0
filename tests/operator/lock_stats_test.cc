// SPDX-License-Identifier: Apache-2.0
// The metrics of the operator with a real Redis over TLS and real runs. Redis is killed and
// restarted with and without its data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "kube/json.h"
#include "operator_process.h"
#include "support/redis_server.h"
#include "unit/operator/metrics/exported.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string labels(const std::string& cronjob, const std::string& lock,
                   const std::string& more = "") {
  return R"({namespace="demo",cronjob=")" + cronjob + R"(",lock="demo/)" + lock + '"' + more + '}';
}

class LockStatsTest : public ::testing::Test {
 protected:
  LockStatsTest() {
    fs::create_directory(dir_.path("credentials"));
    fs::copy_file(certificates_.ca(), credentials("ca.crt"));
    write_password("first");
    redis_ = RedisServer::start_tls(certificates_, {"--requirepass", "first", "--appendonly", "yes",
                                                    "--appendfsync", "always"});
    op_ = start_operator();
  }
  std::string credentials(const std::string& name) const {
    return dir_.path("credentials") + "/" + name;
  }
  void write_password(const std::string& word) const {
    std::ofstream(credentials("password")) << word;
  }
  std::string url() const { return "rediss://127.0.0.1:" + std::to_string(redis_->tls_port()); }
  std::unique_ptr<OperatorProcess> start_operator() const {
    return std::make_unique<OperatorProcess>(
        OperatorProcess::Options{.timing = {"stats-interval=20", "stats-timeout=1500", "drain=50"},
                                 .store = url(),
                                 .more = "credentials-dir: " + dir_.path("credentials") + "\n"});
  }
  std::vector<std::string> command(const std::string& job, const std::string& lock,
                                   const std::vector<std::string>& what) const {
    std::vector<std::string> argv = {CRONLATCH_PROGRAM,
                                     "run",
                                     "--store",
                                     url(),
                                     "--credentials-dir",
                                     dir_.path("credentials"),
                                     "--lock",
                                     "demo/" + lock,
                                     "--job",
                                     "demo/" + job,
                                     "--ttl",
                                     "5s",
                                     "--"};
    argv.insert(argv.end(), what.begin(), what.end());
    return argv;
  }
  int run(const std::string& job, const std::string& lock, const std::vector<std::string>& what) {
    Program program(ProgramSpec{.argv = command(job, lock, what)});
    return program.exit_code().value_or(-1);
  }
  Exported exported() const { return Exported(op_->metrics()); }
  bool shows(const std::string& series, double value) const {
    return eventually([&] { return exported().at(series) == value; });
  }
  bool store_is(int up) const {
    return shows(
        "cronlatch_store_up{endpoint=\"127.0.0.1:" + std::to_string(redis_->tls_port()) + "\"}",
        up);
  }

  Certificates certificates_;
  ScratchDir dir_;
  std::unique_ptr<RedisServer> redis_;
  std::unique_ptr<OperatorProcess> op_;
};

TEST_F(LockStatsTest, ExportsTheCountersOfTheRuns) {
  // Given: three runs of a, one of them failed
  EXPECT_EQ(run("a", "a", {"true"}), 0);
  EXPECT_EQ(run("a", "a", {"true"}), 0);
  EXPECT_EQ(run("a", "a", {"sh", "-c", "exit 3"}), 3);
  // When: b holds the shared lock, c skips, b is killed with all it has, c takes the lock over
  {
    Program holder(ProgramSpec{.argv = command("b", "shared", {talking_child(), "forever"})});
    ASSERT_TRUE(shows("cronlatch_lock_held" + labels("b", "shared"), 1));
    EXPECT_EQ(run("c", "shared", {"true"}), 0);
    holder.signal(SIGKILL);
    ASSERT_TRUE(holder.exit_code());
  }
  // The command itself proves the run: the page may be one read behind.
  const std::string taken_over = dir_.path("taken-over");
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(run("c", "shared", {"touch", taken_over}), 0);
    return fs::exists(taken_over);
  }));
  // Then
  ASSERT_TRUE(shows("cronlatch_lock_stolen_total" + labels("b", "shared"), 1));
  ASSERT_TRUE(shows("cronlatch_lock_open" + labels("c", "shared"), 0));
  const std::string text = op_->metrics();
  const Exported now(text);
  EXPECT_EQ(now.at("cronlatch_lock_acquired_total" + labels("a", "a")), 3);
  EXPECT_EQ(now.at("cronlatch_runs_total" + labels("a", "a", ",outcome=\"succeeded\"")), 2);
  EXPECT_EQ(now.at("cronlatch_runs_total" + labels("a", "a", ",outcome=\"failed\"")), 1);
  EXPECT_EQ(now.at("cronlatch_lock_acquired_total" + labels("b", "shared")), 1);
  EXPECT_EQ(now.at("cronlatch_lock_released_total" + labels("b", "shared")), 0);
  EXPECT_GE(now.at("cronlatch_lock_skipped_total" + labels("c", "shared", ",reason=\"held\"")), 1);
  EXPECT_EQ(now.at("cronlatch_lock_acquired_total" + labels("c", "shared")), 1);
  EXPECT_THAT(now.outlaws(), IsEmpty());
  EXPECT_THAT(now.twice(), IsEmpty());
  if (std::system("command -v promtool >/dev/null 2>&1") == 0) {
    std::FILE* promtool = popen("promtool check metrics", "w");
    ASSERT_NE(promtool, nullptr);
    std::fwrite(text.data(), 1, text.size(), promtool);
    EXPECT_EQ(pclose(promtool), 0) << text;
  }
}

TEST_F(LockStatsTest, CountersAreCorrectAfterARestartOfRedis) {
  // Given
  const std::string acquired = "cronlatch_lock_acquired_total" + labels("a", "a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run("a", "a", {"true"}), 0);
  ASSERT_TRUE(shows(acquired, 3));
  // When: unavailable
  redis_->kill_now();
  ASSERT_TRUE(store_is(0));
  EXPECT_EQ(exported().at(acquired), 3);
  EXPECT_TRUE(op_->program().complains("\"event\":\"store_down\""));
  // When: restarted with its data
  redis_->restart();
  ASSERT_TRUE(store_is(1));
  EXPECT_EQ(exported().at(acquired), 3);
  EXPECT_EQ(run("a", "a", {"true"}), 0);
  EXPECT_TRUE(shows(acquired, 4));
  EXPECT_EQ(exported().at("cronlatch_store_resets_total"), 0);
  // When: restarted without data
  redis_->kill_now();
  ASSERT_TRUE(store_is(0));
  fs::remove_all(redis_->dir() + "/appendonlydir");
  redis_->restart();
  ASSERT_TRUE(store_is(1));
  EXPECT_EQ(exported().at(acquired), 4);
  EXPECT_EQ(run("a", "a", {"true"}), 0);
  EXPECT_TRUE(shows(acquired, 1));
  EXPECT_EQ(exported().at("cronlatch_store_resets_total"), 1);
  EXPECT_THAT(exported().outlaws(), IsEmpty());
}

TEST_F(LockStatsTest, TheNextOperatorExportsTheSame) {
  // Given
  EXPECT_EQ(run("a", "a", {"true"}), 0);
  ASSERT_TRUE(shows("cronlatch_lock_acquired_total" + labels("a", "a"), 1));
  // When
  op_->program().signal(SIGTERM);
  ASSERT_EQ(op_->program().exit_code(), 0);
  op_ = start_operator();
  // Then
  EXPECT_TRUE(shows("cronlatch_lock_acquired_total" + labels("a", "a"), 1));
}

TEST_F(LockStatsTest, CredentialsMayBeReplacedWhileItRuns) {
  // Given
  ASSERT_TRUE(store_is(1));
  RedisClient redis(redis_->port());
  ASSERT_FALSE(redis({"AUTH", "first"}).is_error());
  // When
  ASSERT_FALSE(redis({"CONFIG", "SET", "requirepass", "second"}).is_error());
  redis({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(store_is(0));
  EXPECT_TRUE(op_->program().complains("\"event\":\"store_down\""));
  EXPECT_EQ(op_->program().err().find("first"), std::string::npos);
  write_password("second");
  // Then
  EXPECT_TRUE(store_is(1));
}

TEST_F(LockStatsTest, AHangingStoreDelaysNoScrape) {
  // Given
  ASSERT_TRUE(store_is(1));
  // When
  redis_->pause();
  // Then: scrapes are answered as before, and report the outage in time
  EXPECT_THAT(op_->metrics(), HasSubstr("cronlatch_build_info"));
  EXPECT_TRUE(store_is(0));
  redis_->resume();
  EXPECT_TRUE(store_is(1));
}

TEST_F(LockStatsTest, TheStatusPageShowsLocksWithoutTheirOwners) {
  // Given
  Program holder(ProgramSpec{.argv = command("b", "shared", {talking_child(), "forever"})});
  ASSERT_TRUE(shows("cronlatch_lock_held" + labels("b", "shared"), 1));
  // When
  const auto answer = op_->ask_plain(get("/status"));
  // Then
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->headers.at("content-type"), "application/json");
  const auto page = kube::parse_json(answer->body);
  ASSERT_TRUE(page) << answer->body;
  EXPECT_EQ((*page)["leader"], true);
  EXPECT_EQ((*page)["store"]["up"], true);
  ASSERT_EQ((*page)["locks"].size(), 1U);
  EXPECT_EQ(kube::string_at((*page)["locks"][0], {"state"}), "held");
  RedisClient redis(redis_->port());
  redis({"AUTH", "first"});
  const RedisAnswer owner = redis({"HGET", "cronlatch:{demo/shared}", "owner"});
  ASSERT_EQ(owner.text.size(), 32U);
  EXPECT_EQ(answer->body.find(owner.text), std::string::npos);
  // And: other methods are refused
  const auto posted = op_->ask_plain(post("/status", "{}"));
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
}

}  // namespace
}  // namespace cronlatch::testing
