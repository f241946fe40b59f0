// SPDX-License-Identifier: Apache-2.0
// Runs that wait in order for a lock in Redis.
#include <algorithm>
#include <sstream>

#include "gated.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

class Queue : public GatedByRedis {
 protected:
  using Runs = std::vector<std::unique_ptr<Program>>;

  std::unique_ptr<Program> start(const Words& options, const Words& words) const {
    return std::make_unique<Program>(run(options, words));
  }
  // Each one has its place before the next one starts. They append their numbers to a file.
  Runs start_waiters(int n) const {
    Runs runs;
    for (int i = 0; i < n; ++i) {
      runs.push_back(std::make_unique<Program>(ProgramSpec{
          .argv = {binary(), "run", "--lock", "job", "--store", store, "--ttl", "30s", "--on-busy",
                   "wait", "--", "/bin/sh", "-c", "echo " + std::to_string(i) + " >> " + file()}}));
      if (!runs.back()->complains("waiting for lock")) ADD_FAILURE() << runs.back()->err();
    }
    return runs;
  }
  std::vector<int> order() const {
    std::vector<int> numbers;
    std::istringstream lines(read_file(file()));
    for (int number; lines >> number;) numbers.push_back(number);
    return numbers;
  }
  std::int64_t waiters() const {
    return redis_command(redis->port(), {"ZCARD", "cronlatch:{job}:queue"}).integer;
  }
};

TEST_F(Queue, Q2RunsStartInTheOrderOfTheirFirstRequests) {
  const auto holder = start({"--ttl", "30s"}, {"say", "up", "await", go()});
  ASSERT_TRUE(holder->says("up"));
  Runs runs = start_waiters(6);
  EXPECT_THAT(runs[0]->err(), ::testing::HasSubstr("this run is next"));
  EXPECT_THAT(runs[1]->err(), ::testing::HasSubstr("1 run before this one"));
  EXPECT_THAT(runs[5]->err(), ::testing::HasSubstr("5 runs before this one"));
  touch(go());
  for (auto& each : runs) EXPECT_EQ(each->exit_code(), 0) << each->err();
  EXPECT_EQ(order(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(waiters(), 0);
}

TEST_F(Queue, AQ6ARunThatSkipsDoesNotOvertake) {
  const auto holder = start({"--ttl", "30s"}, {"say", "up", "await", go()});
  ASSERT_TRUE(holder->says("up"));
  const auto waiter = start({"--ttl", "30s", "--on-busy", "wait"}, {"say", "on", "forever"});
  ASSERT_TRUE(waiter->complains("waiting for lock"));
  waiter->signal(SIGSTOP);
  touch(go());
  ASSERT_EQ(holder->exit_code(), 0);
  const auto newcomer = start({"--ttl", "30s"}, {"exit", "5"});
  EXPECT_EQ(newcomer->exit_code(), 0);
  EXPECT_THAT(newcomer->err(), ::testing::HasSubstr("skipped because other runs wait"));
  waiter->signal(SIGCONT);
  EXPECT_TRUE(waiter->says("on")) << waiter->err();
}

TEST_F(Queue, Q7ARunThatIsTerminatedLeavesAtOnce) {
  const auto holder = start({"--ttl", "30s"}, {"say", "up", "await", go()});
  ASSERT_TRUE(holder->says("up"));
  Runs runs = start_waiters(2);
  ASSERT_EQ(waiters(), 2);
  runs[0]->signal(SIGTERM);
  EXPECT_EQ(runs[0]->exit_code(), 128 + SIGTERM) << runs[0]->err();
  EXPECT_EQ(waiters(), 1);
  touch(go());
  EXPECT_EQ(runs[1]->exit_code(), 0) << runs[1]->err();
}

// L4, Q2: most of the waiting runs are killed, then the holder releases the lock.
TEST_F(Queue, L4TheOthersStartInOrderSoonAfterMostRunsWereKilled) {
  const int all = is_long_run() ? 500 : 40, survivors = is_long_run() ? 10 : 5;
  const auto holder = start({"--ttl", "30s"}, {"say", "up", "await", go()});
  ASSERT_TRUE(holder->says("up"));
  Runs runs = start_waiters(all);
  std::vector<int> expected;
  for (int i = 0; i < all; ++i) {
    if ((i + 1) % (all / survivors) == 0)
      expected.push_back(i);
    else
      runs[static_cast<std::size_t>(i)]->signal(SIGKILL);
  }
  const std::int64_t released = boottime_us();
  touch(go());
  ASSERT_TRUE(eventually([&] { return !order().empty(); }, 30s));
  // Half a second for a busy machine.
  EXPECT_LE(boottime_us() - released, 5'500'000);
  for (const int i : expected) EXPECT_EQ(runs[static_cast<std::size_t>(i)]->exit_code(), 0);
  std::vector<int> started = order();
  std::sort(started.begin(), started.end());
  EXPECT_EQ(started, expected);
}

// Q2: when the dead places are gone, the order is exact. The long form: 490 of 500 are killed, more
// than one request removes.
TEST_F(Queue, Q3DeadRunsDoNotChangeTheOrderOfTheOthers) {
  const int all = is_long_run() ? 500 : 12;
  const std::vector<int> survivors =
      is_long_run() ? std::vector<int>{3, 4, 77, 78, 150, 202, 301, 302, 420, 498}
                    : std::vector<int>{3, 4, 7, 9, 10};
  const auto holder = start({"--ttl", "30s"}, {"say", "up", "await", go()});
  ASSERT_TRUE(holder->says("up"));
  Runs runs = start_waiters(all);
  for (int i = 0; i < all; ++i)
    if (std::find(survivors.begin(), survivors.end(), i) == survivors.end())
      runs[static_cast<std::size_t>(i)]->signal(SIGKILL);
  ASSERT_TRUE(
      eventually([&] { return waiters() == static_cast<std::int64_t>(survivors.size()); }, 30s));
  const std::int64_t released = boottime_us();
  touch(go());
  ASSERT_TRUE(eventually([&] { return order().size() == survivors.size(); }, 30s));
  EXPECT_LE(boottime_us() - released, 5'000'000);
  EXPECT_EQ(order(), survivors);
}

}  // namespace
}  // namespace cronlatch::testing
