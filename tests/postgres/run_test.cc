// SPDX-License-Identifier: Apache-2.0
// Runs of the real wrapper with a real server: the exit codes of README.md, a server that is killed
// during a run, and the commands that read and change the store.
#include "pooler.h"
#include "process/gated.h"
#include "support/certificates.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PostgresRun : public Gated {
 protected:
  PostgresRun() {
    static int runs = 0;
    prefix_ = "run-" + std::to_string(++runs) + ":";
    use(PostgresServer::shared());
  }
  void use(const PostgresServer& server, const std::string& user = "cron",
           const std::string& options = "") {
    store = server.url(user, options);
  }
  ProgramSpec with_login(ProgramSpec spec, const std::string& password = "secret") const {
    for (const std::string& variable :
         {"CRONLATCH_PASSWORD=" + password,
          "CRONLATCH_TLS_CA=" + PostgresServer::certificates().ca(),
          "CRONLATCH_KEY_PREFIX=" + prefix_, std::string("PGHOST=192.0.2.1"),
          std::string("PGUSER=other"), std::string("PGSSLMODE=disable"),
          std::string("PGOPTIONS=-c search_path=none"), std::string("PGPASSFILE=/nonexistent")})
      spec.env.push_back(variable);
    return spec;
  }
  // `cronlatch WORDS --store ...`
  ProgramSpec command(Words words) const {
    words.insert(words.begin(), binary());
    words.insert(words.end(), {"--store", store});
    return with_login({.argv = words});
  }
  // Exit code and standard error of a run that does nothing.
  std::pair<int, std::string> outcome(const Words& options = {},
                                      const std::string& password = "secret") const {
    Program program(with_login(run(options, {"exit", "0"}), password));
    const int code = program.exit_code().value_or(-1);
    return {code, program.err()};
  }
  static PostgresServer& server() { return PostgresServer::shared(); }

  std::string prefix_;
};

TEST_F(PostgresRun, RunsTheCommandUnderTheLockAndReturnsItsExitCode) {
  Program program(with_login(run({}, {"exit", "7"})));
  EXPECT_EQ(program.exit_code(), 7) << program.err();
  Program show(command({"show", "job", "-o", "json"}));
  EXPECT_EQ(show.exit_code(), 0) << show.err();
  EXPECT_THAT(show.out(), AllOf(HasSubstr("\"state\":\"free\""), HasSubstr("\"runs_failed\":1")));
}

TEST_F(PostgresRun, SkipsWhileAnotherRunHoldsTheLockAndIsGrantedAfterIt) {
  Program holder(with_login(run({}, {"touch", go(), "sleep", "60000"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  EXPECT_EQ(outcome({"--on-busy", "skip"}).first, 0);
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 75);
  Program ls(command({"ls"}));
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.out(), AllOf(HasSubstr("job"), HasSubstr("held")));
  // A waiting run starts after it.
  Program waiter(with_login(run({"--on-busy", "wait"}, {"exit", "5"})));
  holder.signal(SIGTERM);
  EXPECT_TRUE(holder.exit_code());
  EXPECT_EQ(waiter.exit_code(), 5) << waiter.err();
}

TEST_F(PostgresRun, TakesOverAnExpiredLease) {
  Program killed(with_login(run({"--ttl", "15s"}, {"touch", go(), "sleep", "60000"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << killed.err();
  killed.signal(SIGKILL);
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 75);
  EXPECT_EQ(outcome({"--on-busy", "wait"}).first, 0);
  Program show(command({"show", "job", "-o", "json"}));
  EXPECT_EQ(show.exit_code(), 0);
  EXPECT_THAT(show.out(), HasSubstr("\"stolen\":1"));
}

TEST_F(PostgresRun, IsRevokedByRelease) {
  Program holder(with_login(run({"--ttl", "5s"}, {"touch", go(), "sleep", "60000"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  Program release(command({"release", "job", "--force"}));
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  EXPECT_THAT(release.out(), HasSubstr("revoked the lease"));
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

TEST_F(PostgresRun, ContinuesAfterARestartOfTheServerAndIsReleased) {
  const auto own = PostgresServer::start();
  use(*own);
  Program holder(with_login(run({"--ttl", "30s"}, {"touch", go(), "await", file(), "exit", "3"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  own->kill_now();
  EXPECT_EQ(outcome({"--connect-timeout", "500ms"}).first, 69);
  own->restart();
  touch(file());
  EXPECT_EQ(holder.exit_code(), 3) << holder.err();
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 0);
}

TEST_F(PostgresRun, KeepsItsLockOverARestartOfAPooler) {
  Pooler pooler(server());
  store = pooler.url();
  Program holder(with_login(run({"--ttl", "15s"}, {"touch", go(), "await", file(), "exit", "3"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  pooler.restart();
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 75);
  Program ls(command({"ls"}));
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.out(), AllOf(HasSubstr("job"), HasSubstr("held")));
  touch(file());
  EXPECT_EQ(holder.exit_code(), 3) << holder.err();
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 0);
}

TEST_F(PostgresRun, EndsWith78WithoutASchemaUntilStoreInit) {
  const auto own = PostgresServer::start(false);
  use(*own);
  const auto [code, text] = outcome();
  EXPECT_EQ(code, 78) << text;
  EXPECT_THAT(text, HasSubstr("cronlatch store init"));
  // A role of a run may not create it.
  Program denied(command({"store", "init"}));
  EXPECT_EQ(denied.exit_code(), 77) << denied.err();
  // The owner may, more than once.
  use(*own, "cronlatch_owner");
  for (int i = 0; i < 2; ++i) {
    Program init(command({"store", "init"}));
    EXPECT_EQ(init.exit_code(), 0) << init.err();
  }
  use(*own);
  EXPECT_EQ(outcome().first, 0);
  // Another version of the schema
  (*own)("UPDATE cronlatch.version SET version = 5, oldest_program = 5");
  EXPECT_EQ(outcome().first, 78);
  (*own)("UPDATE cronlatch.version SET version = 2, oldest_program = 1");
  EXPECT_EQ(outcome().first, 78);
}

TEST_F(PostgresRun, WaitsInOrderAndStartsAtTheRelease) {
  Program holder(with_login(run({}, {"touch", go(), "await", file(), "exit", "0"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  Program first(with_login(run({"--on-busy", "wait"}, {"exit", "5"})));
  EXPECT_TRUE(first.complains("this run is next"));
  Program second(with_login(run({"--on-busy", "wait"}, {"exit", "6"})));
  EXPECT_TRUE(second.complains("1 run before this one"));
  Program ls(command({"ls", "-o", "json"}));
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.out(), HasSubstr("\"waiters\":2"));
  Program metrics(command({"metrics"}));
  EXPECT_EQ(metrics.exit_code(), 0) << metrics.err();
  EXPECT_THAT(metrics.out(), AllOf(HasSubstr("cronlatch_lock_waiters{"), HasSubstr("} 2\n")));
  // A run that is stopped leaves the queue.
  second.signal(SIGTERM);
  EXPECT_TRUE(second.exit_code());
  touch(file());
  EXPECT_EQ(first.exit_code(), 5) << first.err();
  EXPECT_EQ(outcome({"--on-busy", "fail"}).first, 0);
}

TEST_F(PostgresRun, StrictWithoutASynchronousStandbyEndsWith69AndIsNotSkipped) {
  for (const Words& options :
       {Words{"--on-busy", "skip"}, Words{"--on-busy", "fail"},
        Words{"--on-busy", "wait", "--on-store-down", "wait", "--wait-timeout", "2s"}}) {
    Words all = {"--strict", "--connect-timeout", "500ms"};
    all.insert(all.end(), options.begin(), options.end());
    const auto [code, text] = outcome(all);
    EXPECT_EQ(code, 69) << text;
    EXPECT_THAT(text, HasSubstr("too few synchronous standbys"));
  }
}

// A renewal that no standby has moves neither TERM nor KILL.
TEST_F(PostgresRun, StrictEndsWith79WhenTheStandbyIsStopped) {
  const auto primary = PostgresServer::start();
  primary->require_standby();
  const auto standby = PostgresServer::start_standby(*primary);
  primary->await_standby();
  use(*primary);
  Program holder(with_login(run({"--strict", "--ttl", "5s"}, {"touch", go(), "sleep", "60000"})));
  ASSERT_TRUE(eventually([&] { return exists(go()); })) << holder.err();
  standby->kill_now();
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

TEST_F(PostgresRun, PrintsTheSchemaWithoutAServer) {
  Program print({.argv = {binary(), "store", "init", "--print"}});
  EXPECT_EQ(print.exit_code(), 0) << print.err();
  EXPECT_THAT(print.out(), AllOf(HasSubstr("CREATE SCHEMA IF NOT EXISTS cronlatch"),
                                 HasSubstr("SECURITY DEFINER"), HasSubstr("COMMIT;")));
  // Options that are for a server do not matter.
  Program other_options({.argv = {binary(), "store", "init", "--print"},
                         .env = {"CRONLATCH_TLS_CA=/missing/ca.pem"}});
  EXPECT_EQ(other_options.exit_code(), 0) << other_options.err();
  EXPECT_EQ(other_options.out(), print.out());
  Program cluster({.argv = {binary(), "store", "init", "--store", "redis+cluster://127.0.0.1"}});
  EXPECT_EQ(cluster.exit_code(), 64);
  Program other({.argv = {binary(), "store", "drop"}});
  EXPECT_EQ(other.exit_code(), 64);
}

TEST_F(PostgresRun, EndsWith77WhenTheServerRefusesIt) {
  EXPECT_EQ(outcome({}, "wrong").first, 77);
  use(server(), "stranger");
  const auto [code, text] = outcome();
  EXPECT_EQ(code, 77) << text;
  EXPECT_THAT(text, HasSubstr("GRANT cronlatch_user"));
  use(server());
  EXPECT_EQ(outcome({"--tls-server-name", "db.example"}).first, 77);
}

TEST_F(PostgresRun, WarnsWithoutTlsOnly) {
  use(server(), "cron", "?sslmode=disable");
  const auto [code, text] = outcome();
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("not encrypted"));
  use(server(), "cron", "?sslmode=require");
  EXPECT_THAT(outcome().second, Not(HasSubstr("not encrypted")));
  use(server(), "cron", "?sslmode=prefer");
  EXPECT_EQ(outcome().first, 78);
}

TEST_F(PostgresRun, EndsWith69WhenTheOnlyServerIsAStandby) {
  const auto own = PostgresServer::start();
  own->become_standby();
  use(*own);
  const auto [code, text] = outcome();
  EXPECT_EQ(code, 69) << text;
  EXPECT_THAT(text, HasSubstr("in recovery"));
}

TEST_F(PostgresRun, MarksAFinishedIdentityAndExportsItsCounters) {
  EXPECT_EQ(outcome({"--once-per", "tick", "--job", "ns/a"}).first, 0);
  const auto [code, text] = outcome({"--once-per", "tick", "--job", "ns/a"});
  EXPECT_EQ(code, 0);
  EXPECT_THAT(text, HasSubstr("already done"));
  Program metrics(command({"metrics"}));
  EXPECT_EQ(metrics.exit_code(), 0) << metrics.err();
  EXPECT_THAT(metrics.out(), HasSubstr("cronlatch_runs_total"));
}

}  // namespace
}  // namespace cronlatch::testing
