// SPDX-License-Identifier: Apache-2.0
// The cache, the queue and the waiting callers.
#include "registry/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fake_registry.h"
#include "support/hand_clock.h"
#include "support/program.h"

namespace cronlatch::registry {
namespace {

using cronlatch::testing::eventually;
using cronlatch::testing::HandClock;
using Kind = LookupResult::Kind;

LookupRequest request_for(const std::string& image) {
  return {*image::parse_reference("r.example/" + image), {"amd64"}};
}

class LookupTest : public ::testing::Test {
 protected:
  LookupResult find(const std::string& image, Millis patience = Millis(1'000'000)) {
    return lookup_->find(request_for(image), clock_.now() + patience);
  }
  LookupResult at_once(const std::string& image) { return find(image, Millis(0)); }
  void begin(LookupTiming timing = {}) {
    lookup_.emplace(Lookup::Dependencies{registry_.query(), {}, clock_}, timing);
    lookup_->start();
  }
  HandClock clock_;
  FakeRegistry registry_;
  std::optional<Lookup> lookup_;
};

TEST_F(LookupTest, QueriesOnceAndCachesTheResult) {
  begin();

  const LookupResult first = find("a:1");
  const LookupResult second = at_once("a:1");

  ASSERT_EQ(first.kind, Kind::known);
  EXPECT_FALSE(first.from_cache);
  ASSERT_EQ(second.kind, Kind::known);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.info, first.info);
  EXPECT_EQ(registry_.queries, 1);
}

TEST_F(LookupTest, ContinuesAfterTheCallerHasReturned) {
  registry_.block(true);
  begin();

  EXPECT_EQ(at_once("a:1").kind, Kind::pending);
  EXPECT_EQ(at_once("a:1").kind, Kind::pending);
  registry_.block(false);

  EXPECT_TRUE(eventually([&] { return at_once("a:1").kind == Kind::known; }));
  EXPECT_EQ(registry_.queries, 1);
}

TEST_F(LookupTest, ReturnsACachedResultWhileTheRegistryIsUnavailable) {
  begin();
  ASSERT_EQ(find("a:1").kind, Kind::known);
  registry_.block(true);
  clock_.pass(Millis(3'600'000));
  std::optional<LookupResult> result;
  std::jthread waiting([&] { result = find("a:1"); });
  ASSERT_TRUE(eventually([&] { return registry_.queries == 2; }));  // to confirm the old answer

  clock_.pass(Millis(1'000));
  waiting.join();

  EXPECT_EQ(result->kind, Kind::known);
  EXPECT_TRUE(result->from_cache);
  registry_.block(false);
}

TEST_F(LookupTest, ConfirmsAnOldAnswerBeforeItIsReturned) {
  begin();
  ASSERT_EQ(find("a:1").kind, Kind::known);
  registry_.push("/two");
  clock_.pass(Millis(300'000));

  EXPECT_EQ(find("a:1").info.platforms[0].command.entrypoint[0], "/two");
}

TEST_F(LookupTest, LeavesAnOldAnswerIfAnyAnswerIsSufficient) {
  begin();
  ASSERT_EQ(find("a:1").kind, Kind::known);
  clock_.pass(Millis(300'000));

  EXPECT_EQ(lookup_->find(request_for("a:1"), clock_.now(), Freshness::any).kind, Kind::known);
  EXPECT_TRUE(lookup_->is_idle());
  EXPECT_EQ(registry_.queries, 1);
}

TEST_F(LookupTest, DoublesTheTimeBetweenRetries) {
  registry_.stop_serving(true);
  begin();
  for (int second = 0; second < 3'600; second += 5) {
    (void)at_once("a:1");
    ASSERT_TRUE(eventually([&] { return lookup_->is_idle(); }));
    clock_.pass(Millis(5'000));
  }
  // 10, 20, 40, 80, 160 s, then every 300 s.
  EXPECT_LE(registry_.queries, 17);
  EXPECT_GE(registry_.queries, 15);
}

TEST_F(LookupTest, RevalidatesATagAfterItsMaximumAge) {
  begin();
  ASSERT_EQ(find("a:1").info.platforms[0].command.entrypoint[0], "/one");
  registry_.push("/two");
  EXPECT_EQ(at_once("a:1").info.platforms[0].command.entrypoint[0], "/one");

  clock_.pass(Millis(300'000));

  EXPECT_TRUE(
      eventually([&] { return at_once("a:1").info.platforms[0].command.entrypoint[0] == "/two"; }));
}

TEST_F(LookupTest, NeverRevalidatesADigest) {
  begin();
  const std::string image = "a@sha256:" + std::string(64, 'a');
  ASSERT_EQ(find(image).kind, Kind::known);
  clock_.pass(Millis(3'600'000));

  EXPECT_EQ(at_once(image).kind, Kind::known);
  ASSERT_EQ(find("b:1").kind,
            Kind::known);  // queued after it, so a query of the digest would have run
  EXPECT_EQ(registry_.queries, 2);
}

TEST_F(LookupTest, CachesAFailureForItsMaximumAge) {
  registry_.stop_serving(true);
  begin();
  const LookupResult failed = find("a:1");
  ASSERT_EQ(failed.kind, Kind::failed);
  EXPECT_EQ(failed.error, "it is unavailable");
  registry_.stop_serving(false);

  EXPECT_EQ(at_once("a:1").kind, Kind::failed);
  EXPECT_EQ(registry_.queries, 1);
  clock_.pass(Millis(10'000));

  EXPECT_EQ(find("a:1").kind, Kind::known);
}

TEST_F(LookupTest, ReturnsPendingAtOnceAboveTheLimitOfWaitingCallers) {
  registry_.block(true);
  begin({.threads = 1, .max_waiting = 1});
  std::jthread waiting([&] { EXPECT_EQ(find("a:1").kind, Kind::known); });
  ASSERT_TRUE(eventually([&] { return registry_.queries == 1; }));

  // The clock does not advance: a caller that waits here would never return.
  EXPECT_TRUE(eventually([&] { return find("b:1", Millis(0)).kind == Kind::pending; }));
  EXPECT_EQ(find("b:1").kind, Kind::pending);
  registry_.block(false);
}

TEST_F(LookupTest, FailsWhenTheQueueIsFull) {
  registry_.block(true);
  begin({.threads = 1, .max_queued = 1});
  EXPECT_EQ(at_once("a:1").kind, Kind::pending);
  ASSERT_TRUE(eventually([&] { return registry_.queries == 1; }));
  EXPECT_EQ(at_once("b:1").kind, Kind::pending);

  EXPECT_EQ(at_once("c:1").kind, Kind::failed);
  registry_.block(false);
}

TEST_F(LookupTest, EvictsTheOldestEntryAboveTheCacheSize) {
  begin({.cache_size = 2});
  for (const char* image : {"a:1", "b:1", "c:1"}) ASSERT_EQ(find(image).kind, Kind::known);

  ASSERT_EQ(find("a:1").kind, Kind::known);

  EXPECT_EQ(registry_.queries, 4);
}

TEST_F(LookupTest, ASlowRegistryDoesNotBlockOthers) {
  registry_.block(true);
  begin({.threads = 4});
  for (const char* image : {"a:1", "b:1", "c:1", "d:1", "e:1"})
    ASSERT_EQ(at_once(image).kind, Kind::pending);
  ASSERT_TRUE(eventually([&] { return registry_.queries == 2; }));

  (void)lookup_->find({*image::parse_reference("other.example/a"), {"amd64"}}, clock_.now());

  EXPECT_TRUE(eventually([&] { return registry_.queries == 3; }));
  registry_.block(false);
}

TEST_F(LookupTest, StopReleasesWaitingCallers) {
  registry_.block(true);
  begin();
  // The stopped lookup may store its result before the caller is notified.
  std::jthread waiting([&] { EXPECT_NE(find("a:1").kind, Kind::known); });
  ASSERT_TRUE(eventually([&] { return registry_.queries == 1; }));

  lookup_->stop();
}

}  // namespace
}  // namespace cronlatch::registry
