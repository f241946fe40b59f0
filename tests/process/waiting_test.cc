// SPDX-License-Identifier: Apache-2.0
// Runs that wait for a busy lock while the store stalls, and runs without a store.
#include <thread>

#include "gated.h"
#include "support/redis_peer.h"

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
TEST_F(Waiting, L1EndsWith69InTimeForEachReplyOfTheStore) {
  redis_command(redis->port(), {"SET", "not-a-lock", "1"});
  const std::string no_one_listens = "redis://127.0.0.1:" + std::to_string(free_port());
  const auto replica = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(free_port()),
                                           "--replica-serve-stale-data", "yes"});
  const auto full = RedisServer::start({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  std::vector<std::string> stores = {no_one_listens,
                                     "redis://127.0.0.1:" + std::to_string(replica->port()),
                                     "redis://127.0.0.1:" + std::to_string(full->port()), ""};
  constexpr int kRounds = 6;
  // A peer serves one client after the other.
  std::vector<std::unique_ptr<RedisPeer>> loading;
  for (int round = 0; round < kRounds; ++round)
    loading.push_back(std::make_unique<RedisPeer>([](const RedisPeer::Command& command) {
      return command[0] == "HELLO" ? "-LOADING Redis is loading the dataset in memory\r\n"
                                   : RedisPeer::usual(command);
    }));
  std::vector<std::unique_ptr<Program>> runs;
  const std::int64_t began = boottime_us();
  for (int round = 0; round < kRounds; ++round) {
    stores.back() = loading[static_cast<std::size_t>(round)]->url();
    for (const std::string& each : stores)
      runs.push_back(std::make_unique<Program>(
          ProgramSpec{.argv = {binary(), "run", "--lock", "job", "--store", each,
                               "--connect-timeout", "3s", "--", "/bin/true"}}));
  }
  for (auto& program : runs) EXPECT_EQ(program->exit_code(), 69) << program->err();
  // Another window of 3 s would take 6 s and more.
  EXPECT_LT(boottime_us() - began, 5'500'000);
}

// The first question after the step starts the remaining lease anew (L7), so the pause between two
// questions comes on top.
TEST(SteppedClock, L2ATakeoverAfterABackwardStepComesWithinALeaseAndASecond) {
  constexpr std::int64_t kTtl = 5'000'000;
  constexpr int kRounds = 3;
  const auto redis = RedisServer::start_with_clock();
  const std::string store = "redis://127.0.0.1:" + std::to_string(redis->port());
  ScratchDir dir;
  const auto run_of = [&](const std::string& lock, const Words& more, const Words& words) {
    Words argv = {binary(), "run", "--store", store, "--ttl", "5s", "--lock", lock};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.insert(argv.end(), {"--", talking_child()});
    argv.insert(argv.end(), words.begin(), words.end());
    return std::make_unique<Program>(ProgramSpec{.argv = argv});
  };
  // Given locks whose holders were killed, and runs that wait for each of them
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < kRounds; ++i) {
    const std::string lock = "job" + std::to_string(i);
    programs.push_back(run_of(lock, {}, {"say", "up", "forever"}));
    ASSERT_TRUE(programs.back()->says("up"));
    programs.push_back(run_of(lock, {"--on-busy", "wait"}, {"beat"}));
    ASSERT_TRUE(programs.back()->complains("waiting for lock")) << programs.back()->err();
    programs[programs.size() - 2]->signal(SIGKILL);
  }
  // When
  const std::int64_t stepped = boottime_us();
  redis->step_clock(-60'000'000);
  // Then
  for (std::size_t i = 1; i < programs.size(); i += 2) {
    ASSERT_TRUE(programs[i]->says("beat", 30s)) << programs[i]->err();
    const std::string& out = programs[i]->out();
    const std::int64_t started = std::atoll(out.c_str() + out.find("beat ") + 5);
    EXPECT_GE(started, stepped + kTtl - 1'000'000) << "the clock was not stepped";
    // Half a second for a busy machine.
    EXPECT_LE(started, stepped + kTtl + 1'000'000 + 500'000);
  }
}

}  // namespace
}  // namespace cronlatch::testing
