// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/change_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::eventually;
using namespace std::chrono_literals;

constexpr std::size_t kWatchers = 3;
constexpr std::size_t kChanges = 20 * ChangeQueue::kCapacity;

// The queue is often full.
TEST(ChangeQueue, PassesEveryChangeOfEachWatcherInOrder) {
  ChangeQueue queue;
  std::vector<std::jthread> watchers;
  for (std::size_t watcher = 0; watcher < kWatchers; ++watcher)
    watchers.emplace_back([&queue, watcher](const std::stop_token& stop) {
      for (std::size_t i = 0; i < kChanges; ++i)
        if (!queue.put({.uid = std::to_string(i), .watched = std::to_string(watcher)}, stop))
          return;
    });
  std::vector<std::size_t> next(kWatchers);
  for (std::size_t taken = 0; taken < kWatchers * kChanges; ++taken) {
    const auto change = queue.take(30s, {});
    ASSERT_TRUE(change) << "after " << taken << " changes";
    ASSERT_EQ(change->uid, std::to_string(next[std::stoul(change->watched)]++));
  }
  EXPECT_FALSE(queue.take(0ms, {}));
}

TEST(ChangeQueue, WakesAWaitForAChange) {
  ChangeQueue there, back;
  std::jthread echo([&](const std::stop_token& stop) {
    while (auto change = there.take(1h, stop)) back.put(std::move(*change), stop);
  });
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(there.put({}, {}));
    ASSERT_TRUE(back.take(30s, {})) << "after " << i << " changes";
  }
}

// A full queue, and a thread that waits for room in it.
class FullQueue : public ::testing::Test {
 protected:
  FullQueue() {
    for (std::size_t i = 0; i < ChangeQueue::kCapacity; ++i) EXPECT_TRUE(queue.put({}, {}));
    watcher = std::jthread([this](const std::stop_token& stop) {
      thread = gettid();
      is_put = queue.put({}, stop);
    });
    EXPECT_TRUE(eventually([this] { return is_asleep(thread); }));
  }
  static bool is_asleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] == 'S';
  }
  ChangeQueue queue;
  std::atomic<pid_t> thread = 0;
  bool is_put = false;
  std::jthread watcher;
};

TEST_F(FullQueue, EndsAWaitForRoomWhenStopped) {
  watcher.request_stop();
  watcher.join();
  EXPECT_FALSE(is_put);
}

TEST_F(FullQueue, HasRoomAfterClear) {
  queue.clear();
  watcher.join();
  EXPECT_TRUE(is_put);
  EXPECT_TRUE(queue.take(0ms, {}));
}

}  // namespace
}  // namespace cronlatch::op
