// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace cronlatch::op {
namespace {

TEST(Workers, RunTasksAtOnceUpToTheirNumber) {
  std::latch both(2);  // neither task ends before both run
  std::latch done(2);
  Workers workers(2);
  for (int i = 0; i < 2; ++i)
    workers.submit([&] {
      both.arrive_and_wait();
      done.count_down();
    });

  done.wait();
}

TEST(Workers, ExecuteEachTaskOnceWhileTheQueueIsFull) {
  std::atomic<int> executed{0};
  std::latch last(1'000);
  Workers workers(3);
  for (int i = 0; i < 1'000; ++i)
    workers.submit([&] {
      ++executed;
      last.count_down();
    });
  last.wait();

  EXPECT_EQ(executed, 1'000);
}

TEST(Workers, ClearDiscardsQueuedTasksAndWaitsForTheRunningOne) {
  std::atomic<int> executed{0};
  std::latch begun(1), end(1);
  Workers workers(1);
  workers.submit([&] {
    begun.count_down();
    end.wait();
    ++executed;
  });
  for (int i = 0; i < 10; ++i) workers.submit([&] { executed += 100; });
  begun.wait();
  std::jthread other([&] { end.count_down(); });

  workers.clear();

  EXPECT_EQ(executed % 100, 1);  // the running one has ended
  const int at_the_end_of_clear = executed;
  std::latch after(1);
  workers.submit([&] { after.count_down(); });
  after.wait();
  EXPECT_EQ(executed, at_the_end_of_clear);
}

TEST(Workers, ReportEachTaskOnItsThread) {
  std::atomic<int> running{0}, accepted{0};
  std::latch done(1), end(1);
  Workers workers(1, {.began = [&] { running += 1; },
                      .ended = [&] { running -= 1; },
                      .accepted = [&] { ++accepted; }});
  workers.submit([&] {
    done.count_down();
    end.wait();
  });
  done.wait();
  EXPECT_EQ(running, 1);
  EXPECT_EQ(accepted, 1);

  end.count_down();
  workers.clear();

  EXPECT_EQ(running, 0);
}

TEST(Workers, WithoutThreadsASubmittedTaskIsExecutedAtOnce) {
  Workers workers(0);
  bool executed = false;
  workers.submit([&] { executed = true; });
  EXPECT_TRUE(executed);
  workers.clear();
}

}  // namespace
}  // namespace cronlatch::op
