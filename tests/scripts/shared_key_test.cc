// SPDX-License-Identifier: Apache-2.0
// Locks that share a key with another program: what is written to the key, for how long, and which
// keys and rights a grant refuses. Random calls are in property_test.cc.
#include "core/shared_key.h"

#include "writing_calls.h"

namespace cronlatch::testing {
namespace {

constexpr const char* kKey = "cronlock.report";

struct SharedLock {
  explicit SharedLock(KeyFormat format, std::vector<std::string> server_args = debug_allowed())
      : bench(std::move(server_args)) {
    bench.lock = lock_of_shared_key(format, kKey);
  }
  std::int64_t seconds() const { return bench.now.us / 1'000'000; }
  std::string value() { return bench.client({"GET", kKey}).text; }
  std::int64_t life() { return bench.client({"PTTL", kKey}).integer; }
  void set(const std::string& text) { bench.client({"SET", kKey, text}); }
  Busy busy(const std::string& owner) { return got<Busy>(bench.acquire(owner)); }
  ScriptBench bench;
};

TEST(CronlockKey, ContainsATimeFarAheadAndExpiresWithTheLease) {
  SharedLock lock(KeyFormat::cronlock);
  const auto spread =
      static_cast<std::int64_t>(got<Granted>(lock.bench.acquire("a")).fence % 86'400);
  EXPECT_EQ(lock.value(), std::to_string(lock.seconds() + 86'401 + spread));
  EXPECT_LE(lock.life(), 30'000);
  EXPECT_GT(lock.life(), 25'000);

  lock.bench.client({"PEXPIRE", kKey, "5000"});
  lock.bench.pass(10s);
  got<Renewed>(lock.bench.renew("a"));
  EXPECT_EQ(lock.value(), std::to_string(lock.seconds() + 86'401 + spread));
  EXPECT_GT(lock.life(), 25'000);

  got<Released>(lock.bench.release("a"));
  EXPECT_EQ(lock.value(), "");
  EXPECT_EQ(lock.bench.client({"EXISTS", kKey}).integer, 0);
}

TEST(CronlockKey, IsKeptForAMinHoldAlsoAfterACrash) {
  SharedLock lock(KeyFormat::cronlock);
  Acquire a = lock.bench.acquisition("a");
  a.min_hold = 10min;
  got<Granted>(lock.bench.send(a).reply);
  EXPECT_GT(lock.life(), 590'000) << "a holder that crashes keeps the lock closed, too";
  got<Renewed>(lock.bench.renew("a"));
  EXPECT_GT(lock.life(), 590'000);

  Release end = lock.bench.end("a");
  end.min_hold = 40s;
  lock.bench.pass(10s);
  got<Released>(lock.bench.send(end).reply);
  EXPECT_EQ(lock.value(), std::to_string(lock.seconds() + 31));
  EXPECT_LE(lock.life(), 30'000);
  EXPECT_GT(lock.life(), 25'000);
}

TEST(CronlockKey, OfAnotherProgramExcludesUntilAMinuteAfterItsTime) {
  SharedLock lock(KeyFormat::cronlock);
  lock.set(std::to_string(lock.seconds() + 100));
  const Busy busy = lock.busy("a");
  EXPECT_EQ(busy.holder, "another program (cronlock key)");
  EXPECT_EQ(busy.fence, 0u);
  EXPECT_EQ(busy.remaining, 160s);

  lock.bench.client({"EXPIRE", kKey, "20"});
  const Busy expiring = lock.busy("b");
  EXPECT_LE(expiring.remaining, 20s);
  EXPECT_GT(expiring.remaining, 10s);

  lock.set(std::to_string(lock.seconds() - 59));
  EXPECT_EQ(lock.busy("c").remaining, 1s);
  lock.set(std::to_string(lock.seconds() - 60));
  got<Granted>(lock.bench.acquire("d"));
  EXPECT_EQ(lock.bench.counted("a", "skipped_held"), 1);
}

TEST(CronlockKey, TakenByAnotherProgramIsLostAndNeverOverwritten) {
  for (const std::int64_t ahead : {40, -4000}) {
    SharedLock lock(KeyFormat::cronlock);
    got<Granted>(lock.bench.acquire("a"));
    const std::string taken = std::to_string(lock.seconds() + ahead);
    lock.set(taken);

    EXPECT_EQ(got<NotHolder>(lock.bench.renew("a")).reason, LostReason::taken);
    EXPECT_TRUE(got<TooLate>(lock.bench.acquire("a")).closed) << "a repeated acquire";
    got<Released>(lock.bench.release("a", RunVerdict::lost));
    EXPECT_EQ(lock.value(), taken);
    EXPECT_EQ(lock.bench.counted("a", "released"), 1);
    EXPECT_EQ(lock.bench.counted("a", "lost"), 1);
  }
}

// A cronlock with its default settings writes the time and 86,401 s.
TEST(CronlockKey, OfACronlockThatStartedInTheSameSecondIsNotTakenForOwn) {
  SharedLock lock(KeyFormat::cronlock);
  lock.bench.now.us += 12'345;
  got<Granted>(lock.bench.acquire("a"));
  lock.set(std::to_string(lock.seconds() + 86'401));
  EXPECT_EQ(got<NotHolder>(lock.bench.renew("a")).reason, LostReason::taken);
}

TEST(CronlockKey, ThatIsGoneIsWrittenAgain) {
  SharedLock lock(KeyFormat::cronlock);
  got<Granted>(lock.bench.acquire("a"));
  lock.bench.client({"DEL", kKey});
  got<Renewed>(lock.bench.renew("a"));
  EXPECT_NE(lock.value(), "");
}

TEST(CronlockKey, ARestoredGrantOverwritesNoOtherProgram) {
  SharedLock lock(KeyFormat::cronlock);
  got<Granted>(lock.bench.acquire("a"));
  const Renew renewal = lock.bench.renewal("a");
  lock.bench.client({"FLUSHALL"});
  EXPECT_TRUE(got<Renewed>(lock.bench.send(renewal).reply).restored);
  EXPECT_NE(lock.value(), "");

  lock.bench.client({"FLUSHALL"});
  lock.set("1763699999");
  EXPECT_EQ(got<NotHolder>(lock.bench.send(renewal).reply).reason, LostReason::taken);
  EXPECT_EQ(lock.value(), "1763699999");
}

TEST(CronlockKey, OfAnUnexpectedTypeOrValueIsRefusedAndChangesNothing) {
  for (const std::vector<std::string>& write : {std::vector<std::string>{"SET", kKey, "soon"},
                                                {"SET", kKey, ""},
                                                {"SET", kKey, "-5"},
                                                {"SET", kKey, "17636.5"},
                                                {"LPUSH", kKey, "1"}}) {
    SharedLock lock(KeyFormat::cronlock);
    lock.bench.client(write);
    const std::string before = digest(lock.bench);
    EXPECT_EQ(send_raw(lock.bench, lock.bench.acquisition("a")).text,
              std::string("CRONLATCH_FOREIGN_KEY ") + kKey)
        << write[2];
    EXPECT_EQ(digest(lock.bench), before);
  }
}

// The run that already holds the lock has lost the key, and can still be released.
TEST(CronlockKey, OfAnUnexpectedTypeDuringARunIsLost) {
  SharedLock lock(KeyFormat::cronlock);
  got<Granted>(lock.bench.acquire("a"));
  lock.bench.client({"DEL", kKey});
  lock.bench.client({"LPUSH", kKey, "1"});
  EXPECT_EQ(got<NotHolder>(lock.bench.renew("a")).reason, LostReason::taken);
  got<Released>(lock.bench.release("a", RunVerdict::lost));
  EXPECT_EQ(lock.bench.client({"LLEN", kKey}).integer, 1);
}

// The name was mistyped, and the key is that of an application.
TEST(CronlockKey, OfAnUnexpectedTypeIsNotRemovedByARevocation) {
  SharedLock lock(KeyFormat::cronlock);
  lock.bench.client({"LPUSH", kKey, "1"});
  const RedisAnswer answer =
      lock.bench.raw(redis::encode_revoke(lock.bench.lock, lock.bench.prefix, lock.bench.now + 3s));
  EXPECT_EQ(answer.text, std::string("CRONLATCH_FOREIGN_KEY ") + kKey);
  EXPECT_EQ(lock.bench.client({"LLEN", kKey}).integer, 1);
}

TEST(CronlockKey, IsRemovedByARevocationUnlessALeaseIsInEffect) {
  SharedLock lock(KeyFormat::cronlock);
  lock.set(std::to_string(lock.seconds() + 100));
  const Revoked removed = lock.bench.revoke();
  EXPECT_TRUE(removed.was_cooling);
  EXPECT_EQ(removed.holder, "another program (cronlock key)");
  EXPECT_EQ(removed.remaining, 160s);
  got<Granted>(lock.bench.acquire("a"));

  EXPECT_TRUE(lock.bench.revoke().was_held);
  EXPECT_NE(lock.value(), "") << "its holder still runs";
  EXPECT_EQ(got<NotHolder>(lock.bench.renew("a")).reason, LostReason::revoked);
  got<Released>(lock.bench.release("a", RunVerdict::lost));
  EXPECT_EQ(lock.value(), "");
}

TEST(RedlockKey, ContainsTheFenceAndExcludesOtherTokens) {
  SharedLock lock(KeyFormat::redlock);
  const Granted granted = got<Granted>(lock.bench.acquire("a"));
  EXPECT_EQ(lock.value(), "cronlatch:" + std::to_string(granted.fence));
  EXPECT_GT(lock.life(), 25'000);
  // As redlock libraries do.
  EXPECT_TRUE(lock.bench.client({"SET", kKey, "mine", "NX", "PX", "9000"}).text.empty());
  got<Released>(lock.bench.release("a"));

  EXPECT_EQ(lock.bench.client({"SET", kKey, "mine", "NX", "PX", "9000"}).text, "OK");
  const Busy busy = lock.busy("b");
  EXPECT_EQ(busy.holder, "another program (redlock key)");
  EXPECT_LE(busy.remaining, 9s);
  EXPECT_GT(busy.remaining, 5s);
  EXPECT_EQ(lock.value(), "mine");
}

TEST(SharedKeyRights, AMissingRightIsNamedBeforeTheGrant) {
  SharedLock lock(KeyFormat::cronlock);
  if (!can_read_access_list(lock.bench)) GTEST_SKIP() << "the server is older than 7.0";
  for (const std::string command : {"get", "set", "del"}) {
    lock.bench.witness({"FLUSHALL"});
    lock.bench.witness({"ACL", "SETUSER", "cron", "reset", "on", ">pw", "~p:*",
                        std::string("~") + kKey, "+@all", "-" + command});
    ASSERT_EQ(lock.bench.client({"AUTH", "cron", "pw"}).text, "OK");
    const std::string before = digest(lock.bench);
    const std::string error = send_raw(lock.bench, lock.bench.acquisition("a")).text;
    EXPECT_TRUE(error.starts_with("NOPERM ")) << command << ": " << error;
    std::string upper;
    for (const char c : command) upper += static_cast<char>(c - 'a' + 'A');
    EXPECT_NE(error.find("may not run " + upper + " on " + kKey), std::string::npos) << error;
    EXPECT_EQ(digest(lock.bench), before);
  }
}

// As on 6.2: rights are tried, and a refusal leaves no grant.
TEST(SharedKeyRights, AnOldServerWritesNoRecordWithoutThem) {
  SharedLock lock(KeyFormat::cronlock);
  for (const std::string command : {"set", "del"}) {
    lock.bench.witness({"FLUSHALL"});
    lock.bench.witness({"ACL", "SETUSER", "cron", "reset", "on", ">pw", "~p:*",
                        std::string("~") + kKey, "+@all", "-" + command});
    ASSERT_EQ(lock.bench.client({"AUTH", "cron", "pw"}).text, "OK");
    auto request =
        redis::encode(lock.bench.acquisition("a"), lock.bench.prefix, lock.bench.now + 3s);
    for (std::size_t at = 0;
         (at = request[1].find("redis.acl_check_cmd", at)) != std::string::npos;)
      request[1].replace(at, 19, "redis.not_there");
    const std::string error = lock.bench.raw(request).text;
    EXPECT_TRUE(error.starts_with("NOPERM ")) << command << ": " << error;
    EXPECT_EQ(lock.bench.witness({"EXISTS", lock.bench.key(), kKey}).integer, 0) << command;
  }
}

TEST(SharedKeyMemory, AGrantIsRefusedAndARenewalIsNot) {
  SharedLock lock(KeyFormat::cronlock);
  got<Granted>(lock.bench.acquire("a"));
  lock.bench.client({"CONFIG", "SET", "maxmemory", "1"});
  got<Renewed>(lock.bench.renew("a"));
  EXPECT_NE(lock.value(), "");
  got<Released>(lock.bench.release("a"));
  EXPECT_EQ(lock.value(), "");
  const std::string before = digest(lock.bench);
  EXPECT_TRUE(got<Unavailable>(lock.bench.acquire("b")).error.message.starts_with("OOM"));
  EXPECT_EQ(digest(lock.bench), before);
}

TEST(SharedKeyNames, AllKeysHaveTheTagOfTheKey) {
  EXPECT_EQ(redis::record_key("p:", lock_of_shared_key(KeyFormat::golock, "a:b")),
            "p:{a:b}:cronlock");
  EXPECT_EQ(redis::record_key("p:", lock_of_shared_key(KeyFormat::redlock, "a:b")),
            "p:{a:b}:redlock");
  for (const std::string lock : {"_cronlock/a_3ab", "_redlock/cronlock.report", "ns/name"}) {
    for (const std::string suffix : {"", ":stats", ":once:ns/j"})
      EXPECT_EQ(redis::lock_of_key(redis::record_key("p:", lock) + suffix, "p:"), lock);
  }
  for (const std::string other : {"q:{a}", "p:a", "p:{a", "p:{a b}:cronlock", "p:{a:b}:stats"})
    EXPECT_EQ(redis::lock_of_key(other, "p:"), "") << other;
}

}  // namespace
}  // namespace cronlatch::testing
