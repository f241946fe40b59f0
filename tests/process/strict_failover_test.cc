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
constexpr std::chrono::milliseconds kLimit{60'000};

// Runs that contend for one lock of one group of servers.
class Contest {
 public:
  Contest(SentinelGroup& servers, std::string key_prefix)
      : group(servers), prefix_(std::move(key_prefix)) {}

  void init() const {
    Program init(
        {.argv = {binary(), "store", "init", "--store", group.url(), "--key-prefix", prefix_}});
    EXPECT_EQ(init.exit_code(), 0) << init.err();
  }
  std::size_t ran() const { return count(log(), "ran"); }
  std::size_t overlaps() const { return count(log(), "overlap"); }
  int failovers() const { return failovers_; }  // after which runs started again
  std::string log() const { return read_file(log_path()); }

  ProgramSpec contender(bool is_strict, const std::string& seconds) const {
    Words argv = {binary(), "run", "--lock", "job", "--store", group.url()};
    for (const Words& part : {options(is_strict), Words{"--"}, command(seconds)})
      argv.insert(argv.end(), part.begin(), part.end());
    return {.argv = argv};
  }

  // Its replicas and the Sentinels lose it, but clients do not: Sentinels count the refusal as no
  // answer.
  void isolate(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "-ping"});
    cut_links(master);
    EXPECT_TRUE(eventually([&] { return group.named_port() != master.port(); }, kLimit));
  }
  // The same, except that it keeps its link to one replica, which the Sentinels lose, too.
  void isolate_with(const RedisServer& master, const RedisServer& kept) {
    redis_command(master.port(), {"ACL", "SETUSER", "kept", "on", ">kept", "~*", "&*", "+@all"});
    redis_command(kept.port(), {"CONFIG", "SET", "masterauth", "kept"});
    redis_command(kept.port(), {"CONFIG", "SET", "masteruser", "kept"});
    // It does not follow the new master when the Sentinels send its address.
    redis_command(kept.port(), {"ACL", "SETUSER", "default", "-ping", "-replicaof", "-slaveof"});
    group.wait_until_down(kept);
    isolate(master);
  }
  void heal(const RedisServer& master, const RedisServer& kept) {
    redis_command(kept.port(), {"CONFIG", "SET", "masteruser", ""});
    redis_command(kept.port(), {"CONFIG", "SET", "masterauth", ""});
    redis_command(kept.port(), {"ACL", "SETUSER", "default", "+@all"});
    heal(master);
  }
  // A run of another lock that connects to this server.
  ProgramSpec direct_run(const RedisServer& server, const std::string& min_replicas) const {
    Words argv = {binary(), "run", "--lock", "other-" + min_replicas};
    argv.insert(argv.end(), {"--store", "redis://127.0.0.1:" + std::to_string(server.port())});
    argv.insert(argv.end(), {"--key-prefix", prefix_, "--ttl", "5s", "--connect-timeout", "2s"});
    argv.insert(argv.end(), {"--strict", "--min-replicas", min_replicas, "--max-ttl", "10s"});
    argv.insert(argv.end(), {"--", "touch", dir_.path("other-" + min_replicas)});
    return {.argv = argv};
  }
  bool has_run_directly(const std::string& min_replicas) const {
    return exists(dir_.path("other-" + min_replicas));
  }
  void heal(const RedisServer& master) {
    redis_command(master.port(), {"ACL", "SETUSER", "default", "+@all"});
    group.wait_until_stable();
  }

  // Kills and separates masters in turn; returns the number of overlaps.
  std::size_t fail_over_under_load(bool is_strict, int times) {
    std::atomic<bool> is_over = false;
    std::vector<std::thread> contenders;
    for (int i = 0; i < kContenders; ++i)
      contenders.emplace_back([&] { contend(is_strict, is_over); });
    for (int i = 0; i < times && fail_over(is_strict, /*by_isolation=*/i % 2 == 1); ++i)
      ++failovers_;
    is_over = true;
    for (std::thread& contender : contenders) contender.join();
    return overlaps();
  }

  SentinelGroup& group;

 private:
  Words options(bool is_strict) const {
    Words words = {"--ttl", "10s", "--renew-every", "1s", "--kill-after", "200ms"};
    words.insert(words.end(), {"--on-busy", "wait", "--wait-timeout", "30s"});
    words.insert(words.end(), {"--key-prefix", prefix_});
    if (is_strict)
      words.insert(words.end(), {"--strict", "--min-replicas", "2", "--max-ttl", "10s"});
    return words;
  }
  // Holds a lock of the kernel as long as one of its processes lives.
  Words command(const std::string& seconds) const {
    return {"sh", "-c",
            "exec 9>" + dir_.path("kernel") + "; flock -n 9 && echo ran >> " + log_path() +
                " || echo overlap >> " + log_path() + "; sleep " + seconds};
  }
  std::string log_path() const { return dir_.path("log"); }

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

  // The replicas lack the last grant, unless the store is strict.
  void kill(RedisServer& master, bool is_strict) {
    cut_links(master);
    const std::size_t last = ran();
    eventually([&] { return ran() > last; }, std::chrono::milliseconds(is_strict ? 2'000 : 8'000));
    master.kill_now();
    EXPECT_TRUE(eventually([&] { return group.named_port() != master.port(); }, kLimit));
    master.restart();
    group.wait_until_stable();
  }
  // False when no run starts before or after it.
  bool fail_over(bool is_strict, bool by_isolation) {
    if (!runs_again()) return false;
    RedisServer& master = group.master();
    if (by_isolation) {
      isolate(master);
      const std::size_t last = ran(), found = overlaps();
      eventually([&] { return ran() > last + 1 || overlaps() > found; }, std::chrono::seconds(8));
      heal(master);
    } else {
      kill(master, is_strict);
    }
    return runs_again();
  }
  bool runs_again() const {
    const std::size_t before = ran();
    const bool does = eventually([&] { return ran() > before; }, kLimit);
    EXPECT_TRUE(does) << "no run before or after a failover:\n" << log();
    return does;
  }

  std::string prefix_;
  ScratchDir dir_;
  int failovers_ = 0;
};

// The tests share a group; each has its own epoch.
class StrictFailover : public ::testing::Test {
 protected:
  Contest contest{
      SentinelGroup::shared(),
      std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ":"};
};

TEST_F(StrictFailover, NeverRunsTwoCommandsAtOnce) {
  contest.init();
  EXPECT_EQ(contest.fail_over_under_load(/*is_strict=*/true, 3), 0U) << contest.log();
  std::printf("strict: 3 failovers, %zu runs\n", contest.ran());
}

// For comparison: the number depends on which run requests the lock first.
TEST_F(StrictFailover, WithoutStrictOverlapsAreReported) {
  const std::size_t found = contest.fail_over_under_load(/*is_strict=*/false, 2);
  std::printf("not strict: 2 failovers, %zu runs, %zu overlaps\n", contest.ran(), found);
}

// 200 failovers, most of whose time is waiting: side by side on groups of their own. Returns the
// number of overlaps, and prints it.
std::size_t fail_over_many_times(bool is_strict) {
  constexpr int kGroups = 5;
  constexpr int kFailovers = 40;
  std::atomic<std::size_t> runs = 0, overlaps = 0;
  std::atomic<int> failovers = 0;
  std::vector<std::thread> groups;
  for (int i = 0; i < kGroups; ++i) {
    groups.emplace_back([&] {
      SentinelGroup servers;
      Contest own(servers, "cronlatch:");
      if (is_strict) own.init();
      overlaps += own.fail_over_under_load(is_strict, kFailovers);
      if (is_strict && own.overlaps() > 0) std::printf("%s\n", own.log().c_str());
      runs += own.ran();
      failovers += own.failovers();
    });
  }
  for (std::thread& group : groups) group.join();
  EXPECT_EQ(failovers, kGroups * kFailovers);
  std::printf("%s: %d failovers, %zu runs, %zu overlaps\n", is_strict ? "strict" : "not strict",
              failovers.load(), runs.load(), overlaps.load());
  return overlaps;
}

TEST_F(StrictFailover, NeverRunsTwoCommandsAtOnceOverManyFailovers) {
  if (!is_long_run()) GTEST_SKIP() << "long: LONG_TESTS is not set";
  EXPECT_EQ(fail_over_many_times(/*is_strict=*/true), 0U);
}

// The control: the same load finds overlaps. docs/benchmarks.md contains their number.
TEST_F(StrictFailover, WithoutStrictOverlapsAreReportedOverManyFailovers) {
  if (!is_long_run()) GTEST_SKIP() << "long: LONG_TESTS is not set";
  EXPECT_GT(fail_over_many_times(/*is_strict=*/false), 0U);
}

TEST_F(StrictFailover, AnIsolatedMasterConfirmsNothing) {
  contest.init();
  Program holder(contest.contender(/*is_strict=*/true, "60"));
  ASSERT_TRUE(eventually([&] { return contest.ran() == 1; }, kLimit)) << holder.err();
  RedisServer& before = contest.group.master();
  // when
  contest.isolate(before);
  Program other(contest.contender(/*is_strict=*/true, "1"));
  // then
  EXPECT_EQ(holder.exit_code(kLimit), 79) << holder.err();
  contest.heal(before);
  EXPECT_TRUE(eventually([&] { return contest.ran() == 2; }, kLimit)) << other.err();
  EXPECT_EQ(contest.overlaps(), 0U);
}

// One replica acknowledges what the isolated master writes, and the Sentinels promote the other
// one.
TEST_F(StrictFailover, AnIsolatedMasterWithOneOfTwoReplicasConfirmsNothing) {
  contest.init();
  Program holder(contest.contender(/*is_strict=*/true, "60"));
  ASSERT_TRUE(eventually([&] { return contest.ran() == 1; }, kLimit)) << holder.err();
  RedisServer& before = contest.group.master();
  RedisServer& kept = contest.group.replica();
  // when
  contest.isolate_with(before, kept);
  // then
  EXPECT_NE(contest.group.named_port(), kept.port());
  EXPECT_TRUE(eventually([&] { return is_replicated(before.port(), 1); }));
  Program both(contest.direct_run(before, "2"));
  EXPECT_EQ(both.exit_code(), 69) << both.err();
  EXPECT_FALSE(contest.has_run_directly("2"));
  // The control: one acknowledgement would have been enough for the same run.
  Program one(contest.direct_run(before, "1"));
  EXPECT_EQ(one.exit_code(), 0) << one.err();
  EXPECT_TRUE(contest.has_run_directly("1"));
  Program other(contest.contender(/*is_strict=*/true, "1"));
  EXPECT_EQ(holder.exit_code(kLimit), 79) << holder.err();
  EXPECT_EQ(contest.ran(), 1U) << contest.log();
  contest.heal(before, kept);
  EXPECT_TRUE(eventually([&] { return contest.ran() == 2; }, kLimit)) << other.err();
  EXPECT_EQ(contest.overlaps(), 0U);
}

// The control of the tests above.
TEST_F(StrictFailover, WithoutStrictAnIsolatedMasterRenewsBesideTheOther) {
  Program holder(contest.contender(/*is_strict=*/false, "60"));
  ASSERT_TRUE(eventually([&] { return contest.ran() == 1; }, kLimit)) << holder.err();
  RedisServer& before = contest.group.master();
  contest.isolate(before);
  Program other(contest.contender(/*is_strict=*/false, "1"));
  EXPECT_TRUE(eventually([&] { return contest.overlaps() == 1; }, kLimit)) << other.err();
  contest.heal(before);
}

}  // namespace
}  // namespace cronlatch::testing
