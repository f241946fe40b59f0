// SPDX-License-Identifier: Apache-2.0
// The metrics of the operator with a real PostgreSQL over TLS, real runs, and a failover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "kube/json.h"
#include "operator_process.h"
#include "support/postgres_server.h"
#include "unit/operator/metrics/exported.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PostgresStatsTest : public ::testing::Test {
 protected:
  PostgresStatsTest() {
    fs::create_directory(dir_.path("credentials"));
    fs::copy_file(PostgresServer::certificates().ca(), credentials("ca.crt"));
    std::ofstream(credentials("username")) << "cron";
    write_password("secret");
  }
  std::string credentials(const std::string& name) const {
    return dir_.path("credentials") + "/" + name;
  }
  void write_password(const std::string& word) const {
    std::ofstream(credentials("password")) << word;
  }
  static std::string where(const PostgresServer& server) {
    return "127.0.0.1:" + std::to_string(server.port());
  }
  // The user is in the Secret only.
  void start_operator(const std::string& hosts, const std::string& options = "") {
    url_ = "postgres://" + hosts + "/cronlatch" + options;
    op_ = std::make_unique<OperatorProcess>(
        OperatorProcess::Options{.timing = {"stats-interval=20", "stats-timeout=1500", "drain=50"},
                                 .store = url_,
                                 .more = "credentials-dir: " + dir_.path("credentials") + "\n"});
  }
  ProgramSpec run(const std::string& job, const std::string& lock,
                  const std::vector<std::string>& what) const {
    std::vector<std::string> argv = {CRONLATCH_PROGRAM,
                                     "run",
                                     "--isolated",
                                     "--store=" + url_,
                                     "--credentials-dir=" + dir_.path("credentials"),
                                     "--lock=demo/" + lock,
                                     "--job=demo/" + job,
                                     "--ttl=15s",
                                     "--"};
    argv.insert(argv.end(), what.begin(), what.end());
    return {.argv = argv};
  }
  bool shows(const std::string& series, double value) const {
    return eventually([&] { return Exported(op_->metrics()).at(series) == value; });
  }
  bool is_up(const PostgresServer& server, int up) const {
    return shows("cronlatch_store_up{endpoint=\"" + where(server) + "\"}", up);
  }
  static std::string acquired(const std::string& job) {
    return R"(cronlatch_lock_acquired_total{namespace="demo",cronjob=")" + job +
           R"(",lock="demo/shared"})";
  }
  kube::Json status() const {
    const auto answer = op_->ask_plain(get("/status"));
    auto page = kube::parse_json(answer ? answer->body : "");
    return page ? std::move(*page) : kube::Json::object();
  }

  ScratchDir dir_;
  std::string url_;
  std::unique_ptr<OperatorProcess> op_;
};

TEST_F(PostgresStatsTest, ExportsTheCountersOfRunsAndTheStatusPage) {
  const auto server = PostgresServer::start();
  start_operator(where(*server));
  ASSERT_TRUE(is_up(*server, 1)) << op_->program().err();
  // Given: one run holds the lock, another one is skipped
  {
    Program holder(run("a", "shared", {talking_child(), "forever"}));
    ASSERT_TRUE(shows(acquired("a"), 1)) << holder.err();
    Program skipped(run("b", "shared", {"true"}));
    EXPECT_EQ(skipped.exit_code(), 0) << skipped.err();
    ASSERT_TRUE(shows(R"(cronlatch_lock_skipped_total{namespace="demo",cronjob="b",)"
                      R"(lock="demo/shared",reason="held"})",
                      1));
    // Then
    const kube::Json page = status();
    EXPECT_EQ(kube::string_at(page, {"store", "endpoint"}), where(*server));
    EXPECT_EQ(page["store"]["up"], true);
    ASSERT_EQ(page["locks"].size(), 1U);
    EXPECT_EQ(kube::string_at(page["locks"][0], {"state"}), "held");
    const std::string owner = server->value("SELECT owner FROM cronlatch.locks");
    ASSERT_EQ(owner.size(), 32U);
    EXPECT_THAT(page.dump(), Not(HasSubstr(owner)));
    holder.signal(SIGTERM);
    EXPECT_TRUE(holder.exit_code());
  }
  EXPECT_TRUE(shows(R"(cronlatch_lock_open{namespace="demo",cronjob="a",lock="demo/shared"})", 0));
  const Exported now(op_->metrics());
  EXPECT_THAT(now.outlaws(), IsEmpty());
  EXPECT_EQ(now.at("cronlatch_store_switches_total"), 0);
  EXPECT_THAT(op_->program().err(), Not(HasSubstr("tls_")));
}

TEST_F(PostgresStatsTest, ReportsARestartAndLosesNothing) {
  const auto server = PostgresServer::start();
  start_operator(where(*server), "?sslmode=require");
  Program first(run("a", "shared", {"true"}));
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  ASSERT_TRUE(shows(acquired("a"), 1));
  EXPECT_TRUE(op_->program().complains("\"event\":\"tls_unverified\""));
  // When: it is killed
  server->kill_now();
  ASSERT_TRUE(is_up(*server, 0));
  EXPECT_EQ(Exported(op_->metrics()).at(acquired("a")), 1);
  EXPECT_EQ(status()["store"]["up"], false);
  // When: it is back
  server->restart();
  ASSERT_TRUE(is_up(*server, 1));
  Program second(run("a", "shared", {"true"}));
  EXPECT_EQ(second.exit_code(), 0) << second.err();
  EXPECT_TRUE(shows(acquired("a"), 2));
  EXPECT_EQ(Exported(op_->metrics()).at("cronlatch_store_resets_total"), 0);
}

TEST_F(PostgresStatsTest, FollowsThePrimaryAfterAFailover) {
  auto primary = PostgresServer::start();
  primary->require_standby();
  const auto standby = PostgresServer::start_standby(*primary);
  primary->await_standby();
  start_operator(where(*primary) + "," + where(*standby));
  ASSERT_TRUE(is_up(*primary, 1)) << op_->program().err();
  Program first(run("a", "shared", {"true"}));
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  ASSERT_TRUE(shows(acquired("a"), 1));
  // When
  primary->kill_now();
  standby->promote();
  standby->set("synchronous_standby_names", "''");
  // Then: one series, of the host in use
  ASSERT_TRUE(is_up(*standby, 1)) << op_->program().err();
  const std::string text = op_->metrics();
  EXPECT_THAT(text, Not(HasSubstr("endpoint=\"" + where(*primary))));
  EXPECT_EQ(Exported(text).at("cronlatch_store_switches_total"), 1);
  EXPECT_EQ(Exported(text).at(acquired("a")), 1);
  EXPECT_EQ(Exported(text).at("cronlatch_store_resets_total"), 0);
  EXPECT_TRUE(op_->program().complains("\"event\":\"store_switched\""));
  // The page names the store by all hosts, in every state.
  EXPECT_EQ(kube::string_at(status(), {"store", "endpoint"}),
            where(*primary) + "," + where(*standby));
  Program second(run("a", "shared", {"true"}));
  EXPECT_EQ(second.exit_code(), 0) << second.err();
  EXPECT_TRUE(shows(acquired("a"), 2));
}

TEST_F(PostgresStatsTest, CredentialsMayBeReplacedWhileItRuns) {
  const auto server = PostgresServer::start();
  start_operator(where(*server));
  ASSERT_TRUE(is_up(*server, 1));
  // When
  (*server)("ALTER ROLE cron PASSWORD 'second'");
  server->value(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'cron'");
  ASSERT_TRUE(is_up(*server, 0));
  EXPECT_THAT(op_->program().err(), Not(HasSubstr("secret")));
  write_password("second");
  // Then
  EXPECT_TRUE(is_up(*server, 1));
}

TEST_F(PostgresStatsTest, ReportsAMissingSchemaAndAMissingUser) {
  const auto server = PostgresServer::start(false);
  start_operator(where(*server));
  EXPECT_TRUE(op_->program().complains("cronlatch store init"));
  // A slow server can time out once in between.
  EXPECT_TRUE(eventually([&] {
    return kube::string_at(status(), {"store", "error"}).find("does not exist") !=
           std::string::npos;
  }));
  fs::remove(credentials("username"));
  EXPECT_TRUE(op_->program().complains("has no user"));
}

}  // namespace
}  // namespace cronlatch::testing
