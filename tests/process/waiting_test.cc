// SPDX-License-Identifier: Apache-2.0
// Runs that wait for a busy lock while the store stalls, and runs whose store is down.
#include <thread>

#include "gated.h"

namespace cronlatch::testing {
namespace {

class Waiting : public GatedByRedis {};

// A stall of 4 s is shorter than connect-timeout (5 s), wherever in the wait it begins.
TEST_F(Waiting, SurvivesAStallThatIsShorterThanTheWindow) {
  Program holder(run({"--ttl", "1m"}, {"say", "up", "await", go()}));
  ASSERT_TRUE(holder.says("up"));
  std::vector<std::unique_ptr<Program>> waiters;
  for (int i = 0; i < 12; ++i) {
    // One after the other, so that their windows begin at different times.
    waiters.push_back(
        std::make_unique<Program>(run({"--on-busy", "wait", "--ttl", "1m"}, {"exit", "3"})));
    ASSERT_TRUE(waiters.back()->complains("waiting for lock"));
    const std::int64_t began = boottime_us();
    ASSERT_TRUE(eventually([&] { return boottime_us() > began + 300'000; }, 30s));
  }
  redis->pause();
  const std::int64_t paused = boottime_us();
  ASSERT_TRUE(eventually([&] { return boottime_us() > paused + 4'000'000; }, 30s));
  redis->resume();
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0);
  for (auto& waiter : waiters) EXPECT_EQ(waiter->exit_code(), 3) << waiter->err();
}

// connect-timeout bounds the decision, a second more gives back what may have been granted.
TEST_F(Waiting, L1EndsWith69InTimeWhateverTheStoreAnswers) {
  redis_command(redis->port(), {"SET", "not-a-lock", "1"});
  const std::string no_one_listens = "redis://127.0.0.1:" + std::to_string(free_port());
  const auto replica = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(free_port()),
                                           "--replica-serve-stale-data", "yes"});
  const auto full = RedisServer::start({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  const std::vector<std::string> stores = {no_one_listens,
                                           "redis://127.0.0.1:" + std::to_string(replica->port()),
                                           "redis://127.0.0.1:" + std::to_string(full->port())};
  std::vector<std::unique_ptr<Program>> runs;
  const std::int64_t began = boottime_us();
  for (int round = 0; round < 6; ++round)
    for (const std::string& each : stores)
      runs.push_back(std::make_unique<Program>(
          ProgramSpec{.argv = {binary(), "run", "--lock", "job", "--store", each,
                               "--connect-timeout", "3s", "--", "/bin/true"}}));
  for (auto& program : runs) EXPECT_EQ(program->exit_code(), 69) << program->err();
  // Another window of 3 s would take 6 s and more.
  EXPECT_LT(boottime_us() - began, 5'500'000);
}

}  // namespace
}  // namespace cronlatch::testing
