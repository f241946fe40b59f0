// SPDX-License-Identifier: Apache-2.0
// L5: a retry of an attempt group that was granted once does not skip with 0, which would make a
// failed Job complete. The store's clock is stepped, so that the days pass at once.
#include "gated.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

constexpr std::int64_t kHourUs = 3'600'000'000, kDayUs = 24 * kHourUs;

class AttemptGroup : public Gated {
 protected:
  AttemptGroup() { store = "redis://127.0.0.1:" + std::to_string(redis->port()); }

  ProgramSpec attempt(const std::string& group, Words more, const Words& words) const {
    more.insert(more.end(), {"--attempt-group", group});
    return run(more, words);
  }
  // Another run holds the lock: a further attempt of the group waits for it and then runs. An
  // attempt of another group is the control.
  void a_retry_waits_and_runs() {
    Program holder(run({}, {"say", "up", "await", go()}));
    ASSERT_TRUE(holder.says("up")) << holder.err();
    Program other(attempt("other", {}, {"say", "ran"}));
    EXPECT_EQ(other.exit_code(), 0);
    EXPECT_EQ(other.out(), "") << "not skipped";
    Program retry(attempt("uid", {}, {"say", "retried", "exit", "4"}));
    EXPECT_TRUE(retry.complains("waiting for lock")) << retry.err();
    touch(go());
    EXPECT_EQ(retry.exit_code(), 4) << retry.err();
    EXPECT_EQ(retry.out(), "retried\n");
    EXPECT_EQ(holder.exit_code(), 0);
  }
  std::int64_t lease_end() const {
    return std::atoll(
        redis_command(redis->port(), {"HGET", "cronlatch:{job}", "expires"}).text.c_str());
  }

  std::unique_ptr<RedisServer> redis = RedisServer::start_with_clock();
};

TEST_F(AttemptGroup, L5OfAFailedRunIsRememberedAfterThirtyFourDays) {
  Program first(attempt("uid", {}, {"exit", "1"}));
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  redis->step_clock(34 * kDayUs);
  a_retry_waits_and_runs();
}

TEST_F(AttemptGroup, L5OfARunThatTakesMoreThanADayIsRemembered) {
  if (!is_long_run()) GTEST_SKIP() << "long: LONG_TESTS is not set";
  const std::string end = dir.path("end");
  Program first(attempt("uid", {"--ttl", "1h", "--renew-every", "200ms"},
                        {"say", "up", "await", end, "exit", "1"}));
  ASSERT_TRUE(first.says("up")) << first.err();
  // Each step is shorter than the lease, which is renewed after it.
  constexpr std::int64_t kStep = kHourUs - kHourUs / 30;
  for (std::int64_t passed = 0; passed <= kDayUs; passed += kStep) {
    const std::int64_t before = lease_end();
    redis->step_clock(kStep);
    ASSERT_TRUE(eventually([&] { return lease_end() >= before + kStep; })) << first.err();
  }
  touch(end);
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  a_retry_waits_and_runs();
}

TEST_F(AttemptGroup, L5OfARunThatLosesItsLeaseAfterThirtySixDaysIsRemembered) {
  Program first(attempt("uid", {"--renew-every", "200ms"}, {"say", "up", "forever"}));
  ASSERT_TRUE(first.says("up")) << first.err();
  redis->step_clock(36 * kDayUs);
  ASSERT_EQ(first.exit_code(), 79) << first.err();
  a_retry_waits_and_runs();
}

TEST_F(AttemptGroup, L5OfARunWithoutALockIsRemembered) {
  const std::string end = dir.path("end");
  redis->stop();
  Program first(attempt("uid", {"--on-store-down", "run", "--connect-timeout", "500ms"},
                        {"say", "up", "await", end, "exit", "1"}));
  ASSERT_TRUE(first.says("up")) << first.err();
  redis->restart();
  touch(end);
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  a_retry_waits_and_runs();
}

}  // namespace
}  // namespace cronlatch::testing
