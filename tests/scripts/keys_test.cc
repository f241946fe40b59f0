// SPDX-License-Identifier: Apache-2.0
// What only the scripts have: lifetimes of keys, entries of the index, limits of one call.
#include "support/script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(ScriptKeys, G7KeepsStateAndCountersWhileOpenAndNinetyDaysAfterwards) {
  ScriptBench bench;
  const auto ttl_of = [&](const std::string& suffix) {
    return bench.client({"PTTL", bench.key(suffix)}).integer;
  };
  constexpr std::int64_t ninety_days = 90LL * 86'400'000;
  bench.acquire("a");
  EXPECT_EQ(ttl_of(""), -1);
  EXPECT_EQ(ttl_of(":stats"), -1);
  bench.release("a");
  EXPECT_NEAR(static_cast<double>(ttl_of("")), ninety_days, 60'000);
  EXPECT_NEAR(static_cast<double>(ttl_of(":stats")), ninety_days, 60'000);
  bench.acquire("b");
  EXPECT_EQ(ttl_of(""), -1);
  EXPECT_EQ(ttl_of(":stats"), -1);
  bench.revoke();
  EXPECT_NEAR(static_cast<double>(ttl_of("")), ninety_days, 60'000);
  EXPECT_NEAR(static_cast<double>(ttl_of(":stats")), ninety_days, 60'000);
}

// The key of the further slots has the life of the record, and exists only with several slots.
TEST(ScriptKeys, G7KeepsTheSlotsAsTheRecord) {
  ScriptBench bench;
  const auto with_slots = [&](const std::string& owner, unsigned slots, std::uint32_t attempt = 1) {
    Acquire request = bench.acquisition(owner, attempt);
    request.slots = slots;
    return bench.send(request).reply;
  };
  const auto ttl_of = [&](const std::string& suffix) {
    return bench.client({"PTTL", bench.key(suffix)}).integer;
  };
  constexpr std::int64_t gone = -2, kept = -1;
  got<Granted>(with_slots("a", 1));
  EXPECT_EQ(ttl_of(":slots"), gone);
  bench.release("a");
  got<Granted>(with_slots("a", 3, 2));
  EXPECT_EQ(ttl_of(":slots"), gone) << "one slot is granted";
  got<Granted>(with_slots("b", 3));
  bench.release("a", RunVerdict::failed, 2);
  for (const char* suffix : {"", ":stats", ":slots"}) EXPECT_EQ(ttl_of(suffix), kept) << suffix;
  bench.revoke();
  for (const char* suffix : {"", ":stats", ":slots"})
    EXPECT_NEAR(static_cast<double>(ttl_of(suffix)), 90.0 * 86'400'000, 60'000) << suffix;
  bench.release("b");
  EXPECT_EQ(ttl_of(":slots"), gone);
}

// A lost record leaves its slots behind: they are never read again.
TEST(ScriptKeys, N3SlotsOfALostRecordAreNotRead) {
  ScriptBench bench;
  bench.client({"HSET", bench.key(":slots"), "2", "damaged"});
  Acquire request = bench.acquisition("a");
  got<Granted>(bench.send(request).reply);
  bench.release("a");
  request = bench.acquisition("b");
  request.slots = 2;
  got<Granted>(bench.send(request).reply);
  EXPECT_EQ(bench.client({"EXISTS", bench.key(":slots")}).integer, 0);
}

TEST(ScriptKeys, RepliesAskForTheIndexOncePerLockAndDay) {
  ScriptBench bench;
  EXPECT_TRUE(bench.send(bench.acquisition("a")).index);
  bench.release("a");
  EXPECT_FALSE(bench.send(bench.acquisition("a", 2)).index);
  bench.release("a", RunVerdict::succeeded, 2);
  bench.pass(std::chrono::hours(24));
  EXPECT_TRUE(bench.send(bench.acquisition("a", 3)).index);
}

TEST(ScriptKeys, G3ForgetsAtMostAHundredOldEntriesInOneCall) {
  ScriptBench bench;
  for (int i = 0; i < 150; ++i) {
    bench.client({"ZADD", bench.key(":seen"), "5", "old:" + std::to_string(i) + ":h"});
    bench.client({"ZADD", bench.key(":groups"), "5", "old" + std::to_string(i)});
  }
  auto request = bench.acquisition("a");
  request.identity.group = "uid";
  bench.send(request);
  bench.release("a");

  EXPECT_EQ(bench.client({"ZCARD", bench.key(":groups")}).integer, 51);
  EXPECT_EQ(bench.client({"ZCARD", bench.key(":seen")}).integer, 51);
}

TEST(ScriptKeys, ARunWaitsWhenMemoryIsFull) {
  ScriptBench bench;
  bench.acquire("a");
  bench.client({"CONFIG", "SET", "maxmemory", "1"});
  auto request = bench.acquisition("b");
  request.if_busy = IfBusy::wait;
  EXPECT_EQ(got<Busy>(bench.send(request).reply).ahead, 0u);
  EXPECT_EQ(got<Busy>(bench.send(request).reply).ahead, 0u);
  EXPECT_EQ(got<Released>(bench.release("a")).wake, "b");
}

TEST(ScriptKeys, ThePlacesOfAQueueExpireTogether) {
  ScriptBench bench;
  bench.acquire("a");
  auto request = bench.acquisition("b");
  request.if_busy = IfBusy::wait;
  bench.send(request);
  for (const char* suffix : {":queue", ":asked"})
    EXPECT_NEAR(static_cast<double>(bench.client({"PTTL", bench.key(suffix)}).integer), 600'000,
                60'000);
}

TEST(ScriptKeys, ARevocationAfterItsTimeChangesNothing) {
  ScriptBench bench;
  bench.acquire("a");
  const auto before = bench.record();
  const auto late = bench.raw(redis::encode_revoke(bench.lock, bench.prefix, bench.now - 1us));
  ASSERT_EQ(late.elements.size(), 4u);
  EXPECT_EQ(late.elements[0].text, "stale");
  EXPECT_EQ(bench.record(), before);
}

TEST(ScriptKeys, L0IgnoresTheMinHoldOfAGrantThatAnOlderProgramReplaced) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.min_hold = 10min;
  bench.send(first);
  bench.release("a");
  bench.acquire("b");
  // As a program of version 0.1.0 leaves it.
  bench.client(
      {"HSET", bench.key(), "min_hold", std::to_string(bench.record().fence - 1) + ":600000000"});
  bench.pass(30s);

  EXPECT_EQ(bench.record().min_hold, 0us);
  EXPECT_FALSE(bench.revoke().was_cooling);
  EXPECT_TRUE(got<Granted>(bench.acquire("c")).stole);
}

TEST(ScriptKeys, L5ForgetsAtMostAHundredGroupsInOneCall) {
  ScriptBench bench;
  bench.read_sets = false;
  std::vector<std::string> add{"ZADD", bench.key(":groups")};
  for (int i = 1; i <= 10'250; ++i) {
    add.push_back(std::to_string((bench.now + rules::kGroupAhead - 1min * (10'251 - i)).us));
    add.push_back("g" + std::to_string(i));
  }
  ASSERT_FALSE(bench.client(add).is_error());
  auto request = bench.acquisition("a");
  request.identity.group = "uid";
  bench.send(request);

  EXPECT_EQ(bench.client({"ZCARD", bench.key(":groups")}).integer, 10'151);
}

TEST(ScriptKeys, N3ARestoredRecordIsEnteredInTheIndex) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  bench.client({"FLUSHALL"});

  EXPECT_TRUE(bench.send(renewal).index);
}

TEST(ScriptKeys, AQ2TheFenceIsStoredWithAllItsDigits) {
  ScriptBench bench;
  bench.now = {1'795'201'626'198'651};
  bench.acquire("a");

  EXPECT_EQ(bench.client({"HGET", bench.key(), "fence"}).text, "1795201626198651");
}

}  // namespace
}  // namespace cronlatch::testing
