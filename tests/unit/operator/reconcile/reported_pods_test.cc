// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/reported_pods.h"

#include <gtest/gtest.h>

#include <string>

namespace cronlatch::op {
namespace {

// Of namespace demo. `written` in seconds.
PodVersion pod(const std::string& uid, std::uint64_t version, std::int64_t written = 0,
               bool has_finalizers = false) {
  return {uid, "demo", version, {written * 1'000'000}, {}, has_finalizers};
}

void report(ReportedPods& pods, const PodVersion& pod) {
  EXPECT_FALSE(pods.has(pod)) << pod.uid;
  pods.begin(pod);
  pods.add(pod);
}

ReportedPods next_leader(ReportedPods& pods) {
  const auto checkpoint = pods.checkpoint();
  EXPECT_TRUE(checkpoint.has_value());
  return ReportedPods(checkpoint.value_or(""));
}

TEST(ReportedPods, KnowsAReportedPodAtAnyLaterVersion) {
  ReportedPods pods;
  report(pods, pod("a", 5));

  EXPECT_TRUE(pods.has(pod("a", 5)));
  EXPECT_TRUE(pods.has(pod("a", 900)));
  EXPECT_FALSE(pods.has(pod("b", 4)));
}

TEST(ReportedPods, NextLeaderKnowsThePodsUpToThePosition) {
  ReportedPods one;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    report(one, pod("p" + std::to_string(i), i));
    one.reached("", i);
  }

  ReportedPods two = next_leader(one);

  for (const std::uint64_t i : {1U, 5'000U, 10'000U})
    EXPECT_TRUE(two.has(pod("p" + std::to_string(i), i))) << i;
  EXPECT_FALSE(two.has(pod("late", 10'001)));
  EXPECT_LT(one.checkpoint()->size(), 200U);
}

TEST(ReportedPods, NextLeaderReportsThePodsThatWereInProgress) {
  ReportedPods one;
  one.begin(pod("in progress", 5));
  report(one, pod("reported", 6));
  one.reached("", 7);

  ReportedPods two = next_leader(one);

  EXPECT_FALSE(two.has(pod("in progress", 5)));
  EXPECT_TRUE(two.has(pod("reported", 6)));
}

// The Job controller removes the finalizer after the checkpoint.
TEST(ReportedPods, NextLeaderKnowsAPodWhoseFinalizerWasRemoved) {
  ReportedPods one;
  report(one, pod("a", 5, 0, true));
  one.reached("", 5);

  EXPECT_TRUE(next_leader(one).has(pod("a", 8)));

  EXPECT_TRUE(one.has(pod("a", 8)));
  one.reached("", 8);
  EXPECT_NE(one.checkpoint()->find(R"("recent":[])"), std::string::npos);
  EXPECT_TRUE(next_leader(one).has(pod("a", 8)));
}

// `kubectl label pods --all` while no replica leads.
TEST(ReportedPods, NextLeaderKnowsAPodWhoseStatusIsOlderThanThePosition) {
  ReportedPods one;
  report(one, pod("old", 5, 1'000));
  report(one, pod("new", 6, 1'100));
  one.reached("", 6);

  ReportedPods two = next_leader(one);

  EXPECT_TRUE(two.has(pod("old", 50, 1'000)));
  EXPECT_FALSE(two.has(pod("unknown", 51, 1'090)));  // the clocks of API servers differ
  EXPECT_FALSE(two.has(pod("later", 52, 1'101)));
}

TEST(ReportedPods, ATimeBeforeThePositionIsNoProof) {
  ReportedPods one;
  one.reached("", 4);
  report(one, pod("new", 6, 1'100));  // the stream has not reached it yet

  EXPECT_FALSE(next_leader(one).has(pod("old", 5, 1'000)));
}

TEST(ReportedPods, AVersionThatIsNoNumberIsNotBeforeThePosition) {
  ReportedPods one;
  report(one, pod("reported", 0));
  one.reached("", 7);

  ReportedPods two = next_leader(one);

  EXPECT_TRUE(two.has(pod("reported", 0)));
  EXPECT_FALSE(two.has(pod("late", 0)));
}

TEST(ReportedPods, EachWatchedNamespaceHasAPosition) {
  ReportedPods one;
  report(one, {"a", "shop", 9, {9'000'000'000}, {}, false});
  one.reached("shop", 9);
  one.reached("bank", 4);

  ReportedPods two = next_leader(one);

  EXPECT_TRUE(two.has({"a", "shop", 9, {}, {}, false}));
  EXPECT_TRUE(two.has({"b", "bank", 4, {}, {}, false}));
  EXPECT_FALSE(two.has({"c", "bank", 5, {5'000'000}, {}, false}));
  EXPECT_FALSE(two.has({"d", "other", 1, {}, {}, false}));
}

TEST(ReportedPods, ThePositionOfAllNamespacesIsThatOfEach) {
  ReportedPods one;
  one.reached("shop", 9);
  one.reached("", 20);
  ReportedPods two = next_leader(one);
  EXPECT_TRUE(two.has({"a", "shop", 15, {}, {}, false}));

  two.reached("shop", 30);  // now it watches this namespace only

  ReportedPods three = next_leader(two);
  EXPECT_TRUE(three.has({"b", "bank", 20, {}, {}, false}));
  EXPECT_FALSE(three.has({"c", "bank", 25, {}, {}, false}));
}

// A restored etcd counts versions from an earlier one.
TEST(ReportedPods, IgnoresAPositionThatIsAfterTheListedState) {
  ReportedPods one;
  report(one, pod("before", 900, 1'000));
  report(one, pod("newest", 1'000, 2'000));
  one.reached("", 1'000);

  ReportedPods two = next_leader(one);
  two.listing("", 950);

  EXPECT_TRUE(two.has(pod("before", 900, 1'000)));
  EXPECT_FALSE(two.has(pod("after the restore", 940, 3'000)));
}

TEST(ReportedPods, ForgetsADeletedPod) {
  ReportedPods pods;
  pods.begin(pod("a", 5));
  pods.forget("a");
  pods.add(pod("a", 5));

  EXPECT_EQ(pods.open(), 0U);
  EXPECT_FALSE(pods.has(pod("a", 5)));
}

TEST(ReportedPods, HasNoCheckpointWhileTooManyPodsAreAfterThePosition) {
  ReportedPods pods;
  pods.reached("", 1);
  for (std::size_t i = 0; i <= ReportedPods::kMaxRecent; ++i)
    report(pods, pod("p" + std::to_string(i), 2 + i));
  EXPECT_FALSE(pods.checkpoint().has_value());

  pods.reached("", 10'000);

  EXPECT_TRUE(pods.checkpoint().has_value());
}

// Their finalizers are removed between two leaders.
TEST(ReportedPods, KeepsTheNewestPodsThatChangeAgain) {
  ReportedPods one;
  const std::uint64_t last = ReportedPods::kMaxRecent + 100;
  for (std::uint64_t i = 1; i <= last; ++i) {
    report(one, pod("p" + std::to_string(i), i, 0, true));
    one.reached("", i);
  }

  ReportedPods two = next_leader(one);

  EXPECT_TRUE(two.has(pod("p" + std::to_string(last), last + 1)));
  EXPECT_TRUE(two.has(pod("p101", last + 2)));
  EXPECT_FALSE(two.has(pod("p100", last + 3)));
}

TEST(ReportedPods, IsShorterThanTheLimitOfAnnotations) {
  ReportedPods pods;
  for (int i = 0; i < 300; ++i)
    pods.cronjob_deleted(std::string(253, 'n') + "/" + std::to_string(1'000 + i));
  for (int i = 0; i < 500; ++i)
    pods.reached(std::string(60, 'n') + std::to_string(i), std::uint64_t{1} << 62U);
  for (std::size_t i = 0; i < ReportedPods::kMaxOpen; ++i)
    pods.begin(pod("open" + std::to_string(i), 1));
  pods.reached("demo", 1);
  for (std::size_t i = 0; i < ReportedPods::kMaxRecent * 2; ++i)
    report(pods, pod("p" + std::to_string(i), 1, 0, true));

  const auto checkpoint = pods.checkpoint();
  ASSERT_TRUE(checkpoint.has_value());
  const ReportedPods read(*checkpoint);

  EXPECT_LT(checkpoint->size(), 256U * 1024);
  EXPECT_EQ(read.deleted_cronjobs().size(), ReportedPods::kMaxDeleted);
  EXPECT_EQ(read.deleted_cronjobs().back(), std::string(253, 'n') + "/1299");
}

TEST(ReportedPods, IsEmptyForAnInvalidCheckpoint) {
  for (const char* checkpoint :
       {"", "garbage", "[]", R"({"before":"x","pods":[1]})", R"({"at":[],"open":7})",
        R"({"at":{"":["9"],"x":[1,2]},"open":[7],"recent":{}})"})
    EXPECT_FALSE(ReportedPods(checkpoint).has(pod("uid", 5, 5))) << checkpoint;
}

// Of the version before: pods that finished before a time, and the newest ones.
TEST(ReportedPods, ReadsTheCheckpointOfVersion01) {
  ReportedPods pods(R"({"before":100,"pods":{"0a1b2c3d-4e5f-6071":150}})");

  EXPECT_TRUE(pods.has({"x", "demo", 5, {}, {99'000'000}, false}));
  EXPECT_TRUE(
      pods.has({"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "demo", 5, {}, {150'000'000}, false}));
  EXPECT_FALSE(pods.has({"y", "demo", 5, {}, {101'000'000}, false}));
}

}  // namespace
}  // namespace cronlatch::op
