// SPDX-License-Identifier: Apache-2.0
// Failovers of a real master with two replicas by real Sentinels, while runs contend for one lock.
// The master is killed after the links to its replicas were cut, or separated from all but the
// runs. The access list of the master cuts the links, because Sentinels replace the address of a
// proxy. Every command holds a lock of the kernel, so that an overlap is found with certainty.
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
    words.insert(words.end(), {"--key-prefix", prefix()});
    if (is_strict)
      words.insert(words.end(), {"--strict", "--min-replicas", "2", "--max-ttl", "10s"});
    return words;
  }
  // Each test has its own epoch.
  static std::string prefix() {
    return std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ":";
  }
  void init() const {
    Program init({.argv = {binary(), "store", "init", "--store", store, "--key-prefix", prefix()}});
    ASSERT_EQ(init.exit_code(), 0) << init.err();
  }
  // Holds a lock of the kernel as long as one of its processes lives.
  Words command(const std::string& seconds) const {
    return {"sh", "-c",
            "exec 9>" + dir.path("kernel") + "; flock -n 9 && echo ran >> " + log() +
                " || echo overlap >> " + log() + "; sleep " + seconds};
  }
  std::string log() const { return dir.path("log"); }
  std::size_t ran() const { return count(read_file(log()), "ran"); }
  std::size_t overlaps() const { return count(read_file(log()), "overlap"); }

  ProgramSpec contender(bool is_strict, const std::string& seconds) const {
    Words argv = {binary(), "run", "--lock", "job", "--store", store};
    for (const Words& part : {options(is_strict), Words{"--"}, command(seconds)})
      argv.insert(argv.end(), part.begin(), part.end());
    return {.argv = argv};
  }
  // Each command lasts longer than a failover.
  void contend(bool is_strict, const std::atomic<bool>& is_over) const {
    while (!is_over) {
      Program program(contender(is_strict, "5"));
      (void)program.exit_code();
    }
  }

  // The replicas lose their links, and cannot connect again; clients notice nothing.
  static void cut_links(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "-psync", "-sync", "-replconf"});
    redis_command(master.port(), {"CLIENT", "KILL", "TYPE", "replica"});
  }

  // Its replicas and the Sentinels lose it, but clients do not: Sentinels count the refusal as no
  // answer.
  void isolate(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "-ping"});
    cut_links(master);
    ASSERT_TRUE(eventually([&] { return group.named_port() != master.port(); }, kLimit));
  }
  void heal(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "+@all"});
    group.wait_until_stable();
  }

  // The replicas lack the last grant, unless the store is strict.
  void kill(RedisServer& master, bool is_strict) {
    cut_links(master);
    const std::size_t last = ran();
    eventually([&] { return ran() > last; }, std::chrono::milliseconds(is_strict ? 2'000 : 8'000));
    master.kill_now();
    ASSERT_TRUE(eventually([&] { return group.named_port() != master.port(); }, kLimit));
    master.restart();
    group.wait_until_stable();
  }
  void fail_over(bool is_strict, bool by_isolation) {
    const std::size_t before = ran();
    ASSERT_TRUE(eventually([&] { return ran() > before; }, kLimit)) << "no run before the failover";
    RedisServer& master = group.master();
    if (by_isolation) {
      isolate(master);
      const std::size_t last = ran();
      eventually([&] { return ran() > last + 1 || overlaps() > 0; }, std::chrono::seconds(8));
      heal(master);
    } else {
      kill(master, is_strict);
    }
    const std::size_t after = ran();
    ASSERT_TRUE(eventually([&] { return ran() > after; }, kLimit)) << "no run after the failover";
  }

  // Returns the number of overlaps.
  std::size_t fail_over_under_load(bool is_strict, int times) {
    std::atomic<bool> is_over = false;
    std::vector<std::thread> contenders;
    for (int i = 0; i < kContenders; ++i)
      contenders.emplace_back([&] { contend(is_strict, is_over); });
    for (int i = 0; i < times && !HasFatalFailure(); ++i) fail_over(is_strict, i % 2 == 1);
    is_over = true;
    for (std::thread& contender : contenders) contender.join();
    return overlaps();
  }

  static constexpr std::chrono::milliseconds kLimit{60'000};
  SentinelGroup& group = SentinelGroup::shared();
};

TEST_F(StrictFailover, NeverRunsTwoCommandsAtOnce) {
  init();
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

TEST_F(StrictFailover, AnIsolatedMasterConfirmsNothing) {
  init();
  Program holder(contender(/*is_strict=*/true, "60"));
  ASSERT_TRUE(eventually([&] { return ran() == 1; }, kLimit)) << holder.err();
  RedisServer& before = group.master();
  // when
  isolate(before);
  Program other(contender(/*is_strict=*/true, "1"));
  // then
  EXPECT_EQ(holder.exit_code(kLimit), 79) << holder.err();
  heal(before);
  EXPECT_TRUE(eventually([&] { return ran() == 2; }, kLimit)) << other.err();
  EXPECT_EQ(overlaps(), 0U);
}

// The control of the test above.
TEST_F(StrictFailover, WithoutStrictAnIsolatedMasterRenewsBesideTheOther) {
  Program holder(contender(/*is_strict=*/false, "60"));
  ASSERT_TRUE(eventually([&] { return ran() == 1; }, kLimit)) << holder.err();
  RedisServer& before = group.master();
  isolate(before);
  Program other(contender(/*is_strict=*/false, "1"));
  EXPECT_TRUE(eventually([&] { return overlaps() == 1; }, kLimit)) << other.err();
  heal(before);
}

}  // namespace
}  // namespace cronlatch::testing
