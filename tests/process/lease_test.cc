// SPDX-License-Identifier: Apache-2.0
// The lease with real faults: a store that is killed, paused or revokes; a wrapper that is
// killed.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// ttl 5 s: clock rate 1 %, wall step 0.5 s, scheduling 0.2 s.
constexpr std::int64_t kMarginUs = 750'000;
constexpr std::int64_t kTtlUs = 5'000'000;

class Lease : public GatedByRedis {
 protected:
  std::string outcome() const { return read_file(dir.path("outcome")); }
  std::int64_t last_beat() const {
    const std::string text = read_file(file());
    const std::size_t at = text.rfind("beat ");
    return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 5);
  }
};

TEST_F(Lease, S1_ThatCannotBeRenewedEndsTheCommandBeforeTheNextGrant) {
  // Given a command that ignores TERM
  Program program(run({"--ttl", "5s", "--outcome-file", dir.path("outcome")},
                      {"to", file(), "on", "15", "[", "say", "got-term", "]", "beat"}));
  ASSERT_TRUE(told("beat"));
  // When
  const std::int64_t killed = boottime_us();
  redis->kill_now();
  const auto code = program.exit_code();
  const std::int64_t ended = boottime_us();
  // Then: the last renewal was sent before the store was killed
  EXPECT_EQ(code, 79) << program.err();
  EXPECT_TRUE(told("got-term"));
  EXPECT_GT(last_beat(), killed);
  EXPECT_LE(last_beat(), killed + kTtlUs - kMarginUs);
  EXPECT_GT(ended, last_beat());
  EXPECT_THAT(outcome(), HasSubstr("\"outcome\":\"lost\""));
}

TEST_F(Lease, ThatIsRenewedAgainInTimeDoesNotStopTheCommand) {
  // Given an outage shorter than what a ttl of 10 s tolerates (4 s)
  Program program(run({"--ttl", "10s", "--kill-after", "500ms"},
                      {"to", file(), "on", "15", "[", "say", "got-term", "]", "say", "up", "await",
                       go(), "exit", "4"}));
  ASSERT_TRUE(told("up"));
  // When
  redis->pause();
  const bool noticed = program.complains("the renewal failed", 8s);
  redis->resume();
  const bool renewed = program.complains("renewed again", 8s);
  touch(go());
  // Then
  EXPECT_TRUE(noticed) << program.err();
  EXPECT_TRUE(renewed) << program.err();
  EXPECT_EQ(program.exit_code(), 4);
  EXPECT_EQ(read_file(file()).find("got-term"), std::string::npos);
}

TEST_F(Lease, S4_OfARunThatHasEndedIsNotGrantedLate) {
  // Given
  redis->pause();
  Program program(run({"--connect-timeout", "1s"}, {"touch", dir.path("started")}));
  // When
  const auto code = program.exit_code();
  redis->resume();
  // Then
  EXPECT_EQ(code, 69) << program.err();
  EXPECT_FALSE(redis_command(redis->port(), {"PING"}).is_error());
  EXPECT_TRUE(lock_is_free());
  EXPECT_FALSE(exists(dir.path("started")));
}

TEST_F(Lease, ThatIsRevokedStopsTheCommandAndIsFreeAfterwards) {
  // Given
  Program program(
      run({"--ttl", "5s", "--outcome-file", dir.path("outcome")}, {"say", "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  // When
  Program revoke({.argv = {binary(), "release", "job", "--force", "--store", store}});
  // Then
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  EXPECT_EQ(revoke.exit_code(), 0) << revoke.err();
  EXPECT_THAT(outcome(), HasSubstr("\"reason\":\"revoked\""));
  EXPECT_TRUE(lock_is_free());
  EXPECT_TRUE(shows("\"revoked\":1"));
}

TEST_F(Lease, ReleaseOpensALockThatOnlyItsMinHoldKeepsClosed) {
  for (const std::string& where : {store, "file://" + dir.path("locks")}) {
    // Given
    store = where;
    Program program(run({"--ttl", "5s", "--min-hold", "1h"}, {"exit", "0"}));
    ASSERT_EQ(program.exit_code(), 0) << program.err();
    ASSERT_FALSE(lock_is_free());
    // When
    Program asked({.argv = {binary(), "release", "job", "--store", store}});
    ASSERT_EQ(asked.exit_code(), 64);
    EXPECT_THAT(asked.err(), HasSubstr("is closed by min-hold until "));
    Program opened({.argv = {binary(), "release", "job", "--force", "--store", store}});
    // Then
    EXPECT_EQ(opened.exit_code(), 0) << opened.err();
    EXPECT_THAT(opened.out(),
                HasSubstr("opened lock job: ended its min-hold, which lasted until "));
    EXPECT_TRUE(lock_is_free());
  }
}

TEST_F(Lease, ThatIsRevokedWithOnLostWarnLetsTheCommandFinish) {
  // Given
  Program program(
      run({"--ttl", "5s", "--on-lost", "warn"}, {"say", "up", "await", go(), "exit", "3"}));
  ASSERT_TRUE(program.says("up"));
  Program revoke({.argv = {binary(), "release", "job", "--force", "--no-wait", "--store", store}});
  ASSERT_EQ(revoke.exit_code(), 0) << revoke.err();
  // When
  ASSERT_TRUE(program.complains("is lost: revoked")) << program.err();
  touch(go());
  // Then
  EXPECT_EQ(program.exit_code(), 3);
}

TEST_F(Lease, ThatIsRevokedWithOnLostTermNeverKills) {
  // Given
  Program program(
      run({"--ttl", "5s", "--on-lost", "term", "--kill-after", "100ms"},
          {"on", "15", "[", "say", "got-term", "]", "say", "up", "await", go(), "exit", "3"}));
  ASSERT_TRUE(program.says("up"));
  Program revoke({.argv = {binary(), "release", "job", "--force", "--no-wait", "--store", store}});
  ASSERT_EQ(revoke.exit_code(), 0) << revoke.err();
  // When
  ASSERT_TRUE(program.says("got-term")) << program.err();
  const bool killed = program.exit_code(500ms).has_value();
  touch(go());
  // Then
  EXPECT_FALSE(killed);
  EXPECT_EQ(program.exit_code(), 79);
}

TEST_F(Lease, ThatIsRevokedWithOnLostTermIsKilledByMaxRun) {
  // Given a command that ignores TERM
  Program program(run({"--ttl", "5s", "--on-lost", "term", "--max-run", "3s", "--kill-after",
                       "200ms", "--outcome-file", dir.path("outcome")},
                      {"ignore", "15", "say", "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  Program revoke({.argv = {binary(), "release", "job", "--force", "--no-wait", "--store", store}});
  ASSERT_EQ(revoke.exit_code(), 0) << revoke.err();
  // When
  ASSERT_TRUE(program.complains("is lost: revoked")) << program.err();
  // Then
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  EXPECT_THAT(outcome(), HasSubstr("\"reason\":\"revoked\""));
}

TEST_F(Lease, L2_OfAKilledWrapperPassesOnAndIsCountedStolen) {
  // Given
  Program program(run({"--ttl", "5s"}, {"ids", "forever"}));
  ASSERT_TRUE(program.says("ids"));
  const pid_t command = program.pid_after("ids pid=");
  // When
  const std::int64_t killed = boottime_us();
  program.signal(SIGKILL);
  Program next(run({"--ttl", "5s", "--on-busy", "wait"}, {"beats", "beat", "20"}));
  // Then
  EXPECT_TRUE(eventually([&] { return !is_alive(command); }, 4s))
      << "the command outlives its wrapper";
  EXPECT_EQ(next.exit_code(), 0) << next.err();
  const std::string& out = next.out();
  ASSERT_THAT(out, HasSubstr("beat "));
  const std::int64_t started = std::atoll(out.c_str() + out.find("beat ") + 5);
  // The second second is for a busy machine. The model and RunWindow have no such allowance.
  EXPECT_LE(started - killed, kTtlUs + 1'000'000 + 1'000'000);
  EXPECT_TRUE(shows("\"stolen\":1"));
}

class FileLock : public Gated {};

TEST_F(FileLock, L2_OfAKilledWrapperIsFreeAtOnce) {
  // Given
  Program program(run({}, {"ids", "forever"}));
  ASSERT_TRUE(program.says("ids"));
  const pid_t command = program.pid_after("ids pid=");
  // When
  program.signal(SIGKILL);
  // Then
  EXPECT_TRUE(eventually([&] { return !is_alive(command); }, 4s));
  EXPECT_TRUE(eventually([this] { return lock_is_free(); }, 4s));
}

}  // namespace
}  // namespace cronlatch::testing
