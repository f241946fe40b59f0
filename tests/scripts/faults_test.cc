// SPDX-License-Identifier: Apache-2.0
// Full memory and refused rights: in every case a verb either happens completely or not at all (G1,
// G2).
#include "writing_calls.h"

namespace cronlatch::testing {
namespace {

class FullMemory : public ::testing::Test {
 protected:
  FullMemory() {
    bench.acquire("a");
    bench.client({"CONFIG", "SET", "maxmemory", "1"});
  }
  ScriptBench bench{debug_allowed()};
};

TEST_F(FullMemory, G2RefusesAGrantAndChangesNothing) {
  bench.lock = "ns/other";
  const std::string before = digest(bench);
  const auto refused = bench.send(bench.acquisition("b"));

  EXPECT_TRUE(got<Unavailable>(refused.reply).error.message.starts_with("OOM"));
  EXPECT_EQ(digest(bench), before);
}

TEST_F(FullMemory, G2AllowsARepeatedAcquireARenewalAndARelease) {
  got<Granted>(bench.acquire("a"));
  got<Renewed>(bench.renew("a"));
  auto end = bench.end("a");
  end.identity.once = "tick";
  got<Released>(bench.send(end).reply);

  EXPECT_EQ(bench.counted("a", "released"), 1);
  EXPECT_TRUE(bench.record().once.contains("ns/a"));
}

TEST_F(FullMemory, G2AllowsARestoredRecord) {
  auto renewal = bench.renewal("a");
  bench.client({"FLUSHALL"});

  EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored);
}

TEST_F(FullMemory, G2AllowsACountedBusyAndARevocation) {
  got<Busy>(bench.acquire("b"));
  EXPECT_TRUE(bench.revoke().was_held);
  got<NotHolder>(bench.release("c", RunVerdict::lost));

  EXPECT_EQ(bench.counted("b", "skipped_held"), 1);
  EXPECT_EQ(bench.counted("a", "revoked"), 1);
  EXPECT_EQ(bench.counted("c", "lost"), 1);
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(RefusedRights, EachRefusedCommandIsNamedAndChangesNothing) {
  const std::vector<std::string> commands{"type",    "hmget", "zmscore", "zrangebyscore",
                                          "zcard",   "pttl",  "hset",    "persist",
                                          "pexpire", "zadd",  "zrem",    "zremrangebyrank"};
  ScriptBench bench(debug_allowed());
  const bool checks_each_verb = can_read_access_list(bench);
  std::map<std::string, int> refused;
  for (const WritingCall& call : writing_calls()) {
    for (const std::string& command : commands) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      call.prepare(bench);
      const std::string before = digest(bench);
      bench.client({"ACL", "SETUSER", "half", "reset", "on", ">x", "~*", "+@all", "-" + command});
      bench.client({"AUTH", "half", "x"});
      const RedisAnswer answer = call.send(bench);
      bench.client({"AUTH", "default", ""});
      if (!answer.is_error()) continue;
      ++refused[command];
      EXPECT_TRUE(answer.text.starts_with("NOPERM this user may not run " + upper(command) +
                                          " on " + bench.key()))
          << call.name << " without " << command << ": " << answer.text;
      if (checks_each_verb || call.is_grant()) {
        EXPECT_EQ(digest(bench), before) << call.name << " without " << command;
      }
    }
  }
  for (const std::string& command : commands)
    EXPECT_GT(refused[command], 0) << "no verb needs " << command;
}

TEST(RefusedRights, AReadOnlyKeyChangesNothing) {
  ScriptBench bench(debug_allowed());
  if (!can_read_access_list(bench)) GTEST_SKIP() << "Redis 6.2 has no right to read a key only";
  int refused = 0;
  for (const WritingCall& call : writing_calls()) {
    for (const std::string suffix : {"", ":stats", ":groups", ":once:ns/a", ":seen"}) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      call.prepare(bench);
      const std::string before = digest(bench);
      std::vector<std::string> user{"ACL", "SETUSER", "half", "reset", "on", ">x", "+@all", "%R~*"};
      for (const std::string writable :
           {"", ":stats", ":groups", ":once:ns/a", ":once:ns/b", ":seen"})
        if (writable != suffix) user.push_back("%W~" + bench.key(writable));
      bench.client(user);
      bench.client({"AUTH", "half", "x"});
      const RedisAnswer answer = call.send(bench);
      bench.client({"AUTH", "default", ""});
      if (!answer.is_error()) continue;
      ++refused;
      EXPECT_TRUE(answer.text.starts_with("NOPERM")) << answer.text;
      EXPECT_EQ(digest(bench), before) << call.name << " without " << suffix;
    }
  }
  EXPECT_GE(refused, 20);
}

}  // namespace
}  // namespace cronlatch::testing
