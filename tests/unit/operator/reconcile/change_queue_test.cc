// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/change_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cronlatch::op {
namespace {

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

TEST(ChangeQueue, EndsAWaitForRoomWhenStopped) {
  ChangeQueue queue;
  for (std::size_t i = 0; i < ChangeQueue::kCapacity; ++i) ASSERT_TRUE(queue.put({}, {}));
  std::stop_source stop;
  bool is_put = true;
  std::jthread watcher([&] { is_put = queue.put({}, stop.get_token()); });
  stop.request_stop();
  watcher.join();
  EXPECT_FALSE(is_put);
}

TEST(ChangeQueue, HasRoomAfterClear) {
  ChangeQueue queue;
  for (std::size_t i = 0; i < ChangeQueue::kCapacity; ++i) ASSERT_TRUE(queue.put({}, {}));
  std::jthread watcher([&](const std::stop_token& stop) { EXPECT_TRUE(queue.put({}, stop)); });
  queue.clear();
  watcher.join();
  EXPECT_TRUE(queue.take(0ms, {}));
}

}  // namespace
}  // namespace cronlatch::op
