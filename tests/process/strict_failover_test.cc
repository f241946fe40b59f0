// SPDX-License-Identifier: Apache-2.0
// Failovers of a real master with two replicas by real Sentinels, while runs contend for one lock.
// The links between master and replicas are cut before the master is killed, so that the promoted
// replica lacks the last grants. Every command holds a lock of the kernel: an overlap is certain.
#include <atomic>
#include <thread>

#include "gated.h"
#include "support/long_tests.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {
namespace {

constexpr int kContenders = 4;

class StrictFailover : public Gated {
 protected:
  StrictFailover() { store = group.url(); }

  Words options(bool is_strict) const {
    Words words = {"--ttl", "10s", "--renew-every", "1s", "--kill-after", "200ms"};
    words.insert(words.end(), {"--on-busy", "wait", "--wait-timeout", "30s"});
    words.insert(words.end(), {"--key-prefix", is_strict ? "strict:" : "plain:"});
    if (is_strict)
      words.insert(words.end(), {"--strict", "--min-replicas", "2", "--max-ttl", "10s"});
    return words;
  }
  // Holds a lock of the kernel as long as one of its processes lives: longer than a failover takes.
  Words command() const {
    return {"sh", "-c",
            "exec 9>" + dir.path("kernel") + "; flock -n 9 && echo ran >> " + log() +
                " || echo overlap >> " + log() + "; sleep 5"};
  }
  std::string log() const { return dir.path("log"); }
  std::size_t ran() const { return count(read_file(log()), "ran"); }
  std::size_t overlaps() const { return count(read_file(log()), "overlap"); }

  void contend(bool is_strict, const std::atomic<bool>& is_over) const {
    while (!is_over) {
      Words argv = {binary(), "run", "--lock", "job", "--store", store};
      for (const Words& part : {options(is_strict), Words{"--"}, command()})
        argv.insert(argv.end(), part.begin(), part.end());
      Program program({.argv = argv});
      (void)program.exit_code();
    }
  }

  // The replicas lose their links, and cannot connect again; clients notice nothing.
  static void cut_links(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "-psync", "-sync", "-replconf"});
    redis_command(master.port(), {"CLIENT", "KILL", "TYPE", "replica"});
  }

  void fail_over(bool is_strict) {
    const std::size_t before = ran();
    ASSERT_TRUE(eventually([&] { return ran() > before; }, kLimit)) << "no run before the failover";
    RedisServer& master = group.master();
    cut_links(master);
    // A grant that the replicas lack, unless the store is strict.
    const std::size_t last = ran();
    eventually([&] { return ran() > last; }, std::chrono::milliseconds(is_strict ? 2'000 : 8'000));
    master.kill_now();
    ASSERT_TRUE(eventually([&] { return group.named_port() != master.port(); }, kLimit));
    master.restart();
    group.wait_until_stable();
    const std::size_t after = ran();
    ASSERT_TRUE(eventually([&] { return ran() > after; }, kLimit)) << "no run after the failover";
  }

  // Returns the number of overlaps.
  std::size_t fail_over_under_load(bool is_strict, int times) {
    std::atomic<bool> is_over = false;
    std::vector<std::thread> contenders;
    for (int i = 0; i < kContenders; ++i)
      contenders.emplace_back([&] { contend(is_strict, is_over); });
    for (int i = 0; i < times && !HasFatalFailure(); ++i) fail_over(is_strict);
    is_over = true;
    for (std::thread& contender : contenders) contender.join();
    return overlaps();
  }

  static constexpr std::chrono::milliseconds kLimit{60'000};
  SentinelGroup& group = SentinelGroup::shared();
};

TEST_F(StrictFailover, NeverRunsTwoCommandsAtOnce) {
  Program init({.argv = {binary(), "store", "init", "--store", store, "--key-prefix", "strict:"}});
  ASSERT_EQ(init.exit_code(), 0) << init.err();
  const int times = is_long_run() ? 200 : 3;
  EXPECT_EQ(fail_over_under_load(/*is_strict=*/true, times), 0U) << read_file(log());
  std::printf("strict: %d failovers, %zu runs, %zu overlaps\n", times, ran(), overlaps());
}

// For comparison: the number depends on which run requests the lock first.
TEST_F(StrictFailover, WithoutStrictOverlapsAreReported) {
  const int times = is_long_run() ? 20 : 2;
  const std::size_t found = fail_over_under_load(/*is_strict=*/false, times);
  std::printf("not strict: %d failovers, %zu runs, %zu overlaps\n", times, ran(), found);
}

}  // namespace
}  // namespace cronlatch::testing
