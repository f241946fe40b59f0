// SPDX-License-Identifier: Apache-2.0
// The index of names: a lock is entered on each day on which it is used, and each entry removes
// names of locks whose state has expired.
#include "support/script_bench.h"

namespace cronlatch::testing {
namespace {

constexpr Micros kDay = 24h;

class Index : public ::testing::Test {
 protected:
  // As in the Redis store after a reply with the index flag.
  redis::DecodedReply send(const Request& request) {
    redis::DecodedReply decoded = bench.send(request);
    if (decoded.index) enter(bench.lock);
    return decoded;
  }
  void enter(const std::string& lock) {
    const RedisAnswer answer = bench.client(redis::encode_index(lock, bench.prefix, bench.now));
    EXPECT_FALSE(answer.is_error()) << answer.text;
  }
  std::int64_t size() { return bench.client({"ZCARD", redis::index_key(bench.prefix)}).integer; }
  bool holds(const std::string& lock) {
    return !bench.client({"ZSCORE", redis::index_key(bench.prefix), lock}).text.empty();
  }
  ScriptBench bench;
};

TEST_F(Index, RemovesNamesOfLocksWhoseStateHasExpired) {
  // given
  enter("ns/dead");
  bench.pass(kDay);
  enter("ns/younger");
  // when: 91 days after the first
  bench.pass(90 * kDay - 1us);
  enter("ns/now");
  EXPECT_TRUE(holds("ns/dead"));
  bench.pass(1us);
  enter("ns/now");
  // then
  EXPECT_FALSE(holds("ns/dead"));
  EXPECT_TRUE(holds("ns/younger"));
  EXPECT_TRUE(holds("ns/now"));
}

TEST_F(Index, RemovesAtMostAHundredNamesAtOnce) {
  std::vector<std::string> dead{"ZADD", redis::index_key(bench.prefix)};
  for (int i = 0; i < 250; ++i) {
    dead.push_back("1");
    dead.push_back("ns/" + std::to_string(i));
  }
  bench.client(dead);
  for (const int left : {151, 51, 1, 1}) {
    enter("ns/now");
    EXPECT_EQ(size(), left);
  }
}

TEST_F(Index, KeepsALockThatIsHeldAndRenewedForAYear) {
  bench.ttl = std::chrono::hours(1);
  got<Granted>(send(bench.acquisition("a")).reply);
  int entered = 0;
  for (int hours = 0; hours < 365 * 24; hours += 12) {
    for (int i = 0; i < 24; ++i) {
      bench.pass(30min);
      const redis::DecodedReply kept = send(bench.renewal("a"));
      ASSERT_TRUE(std::holds_alternative<Renewed>(kept.reply));
      entered += kept.index ? 1 : 0;
    }
    enter("ns/other");
    ASSERT_TRUE(holds(bench.lock)) << hours;
  }
  EXPECT_GE(entered, 364);
  EXPECT_LE(entered, 366);
}

TEST_F(Index, KeepsALockWhoseRunsAreAllSkipped) {
  auto a = bench.acquisition("a");
  a.identity.once = "tick";
  a.once_ttl = 365 * 24h;
  got<Granted>(send(a).reply);
  auto end = bench.end("a");
  end.identity.once = "tick";
  end.mark_done = true;
  end.once_ttl = a.once_ttl;
  got<Released>(send(end).reply);
  for (int day = 1; day < 200; ++day) {
    bench.pass(kDay);
    a.claim.attempt = static_cast<std::uint32_t>(day + 1);
    got<Busy>(send(a).reply);
    enter("ns/other");
    ASSERT_TRUE(holds(bench.lock)) << day;
  }
}

TEST_F(Index, CostsOneCommandADay) {
  got<Granted>(send(bench.acquisition("a")).reply);
  EXPECT_FALSE(send(bench.renewal("a")).index);
  EXPECT_FALSE(send(bench.acquisition("b")).index);
  EXPECT_FALSE(send(bench.end("a")).index);
}

}  // namespace
}  // namespace cronlatch::testing
