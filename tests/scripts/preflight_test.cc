// SPDX-License-Identifier: Apache-2.0
// A grant checks everything that the renewals and the release of the same run need: counters, types
// of keys, rights, commands. The error names what is missing, and nothing is written.
#include <set>

#include "writing_calls.h"

namespace cronlatch::testing {
namespace {

const std::vector<std::string> kCommands{"type",    "hmget", "zmscore", "zrangebyscore",
                                         "zcard",   "pttl",  "hset",    "persist",
                                         "pexpire", "zadd",  "zrem",    "zremrangebyrank"};

Acquire whole_run(const ScriptBench& bench, std::uint32_t attempt = 1) {
  Acquire a = bench.acquisition("b", attempt);
  a.identity.group = "uid";
  a.identity.once = "tick";
  return a;
}

RedisAnswer send(ScriptBench& bench, const Request& request) {
  return bench.raw(redis::encode(request, bench.prefix, bench.now + 3s));
}

// As on a server that is older than 7.0: its scripts have no redis.acl_check_cmd.
RedisAnswer send_as_to_an_old_server(ScriptBench& bench, const Request& request) {
  auto command = redis::encode(request, bench.prefix, bench.now + 3s);
  const std::string name = "redis.acl_check_cmd";
  for (std::size_t at = 0; (at = command[1].find(name, at)) != std::string::npos;)
    command[1].replace(at, name.size(), "redis.not_there");
  return bench.raw(command);
}

// ---- counters ----

// The counters of job ns/b that a run changes after its grant, with any result.
std::set<std::string> counters_after_a_grant() {
  ScriptBench bench;
  std::set<std::string> names;
  const auto note = [&] {
    const rules::Record record = bench.record();
    for (const auto& [name, value] : record.jobs.at("ns/b").values)
      if (!name.starts_with("last_") && !name.starts_with("wait_")) names.insert(name);
    bench.client({"FLUSHALL"});
  };
  const auto granted = [&] { got<Granted>(bench.send(whole_run(bench)).reply); };
  std::vector<Millis> lengths{0ms};
  for (const std::int64_t bound : kHoldBucketsMs) lengths.emplace_back(bound + 1);
  for (const RunVerdict verdict :
       {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
        RunVerdict::cannot_start, RunVerdict::given_back})
    for (const Millis held : lengths) {
      granted();
      Release end = bench.end("b", verdict);
      end.held = held;
      end.overlong = true;
      got<Released>(bench.send(end).reply);
      note();
    }
  granted();
  Renew renewal = bench.renewal("b");
  bench.client({"DEL", bench.key()});
  got<Renewed>(bench.send(renewal).reply);
  note();
  granted();
  EXPECT_TRUE(bench.revoke().was_held);
  note();
  granted();
  bench.pass(1h);
  got<Granted>(bench.acquire("c"));
  note();
  return names;
}

TEST(Preflight, ADamagedCounterThatOnlyTheReleaseTouchesIsNotGranted) {
  const std::set<std::string> names = counters_after_a_grant();
  EXPECT_GE(names.size(), 27u);
  ScriptBench bench(debug_allowed());
  for (const bool repeated : {false, true})
    for (const std::string& name : names) {
      bench.client({"FLUSHALL"});
      if (repeated) got<Granted>(bench.send(whole_run(bench)).reply);
      const std::string field = name + "|ns/b";
      for (const std::string value : {"abc", "-1", "9007199254740991", "9007199254740000"}) {
        bench.client({"HSET", bench.key(":stats"), field, value});
        const std::string before = digest(bench);
        const RedisAnswer answer = send(bench, whole_run(bench));
        EXPECT_EQ(answer.text, "CRONLATCH_POISONED " + bench.key(":stats") + ' ' + field)
            << value << (repeated ? " repeated" : "");
        EXPECT_EQ(digest(bench), before) << field;
      }
    }
}

TEST(Preflight, ADamagedMinHoldIsNotGranted) {
  ScriptBench bench(debug_allowed());
  got<Granted>(bench.acquire("a"));
  got<Released>(bench.release("a"));
  bench.client({"HSET", bench.key(), "min_hold", "soon"});
  const std::string before = digest(bench);
  EXPECT_EQ(send(bench, whole_run(bench)).text, "CRONLATCH_POISONED " + bench.key() + " min_hold");
  EXPECT_EQ(digest(bench), before);
}

TEST(Preflight, ADamagedCounterOfAnotherJobDoesNotStopAGrant) {
  ScriptBench bench;
  bench.client({"HSET", bench.key(":stats"), "hold_ms|ns/c", "999", "runs_succeeded|ns/c", "5"});
  got<Granted>(bench.send(whole_run(bench)).reply);
  got<Released>(bench.release("b"));
}

TEST(Preflight, AKeyOfAnotherTypeThatOnlyTheReleaseNeedsIsNotGranted) {
  ScriptBench bench(debug_allowed());
  for (const bool repeated : {false, true})
    for (const std::string suffix :
         {":stats", ":groups", ":once:ns/b", ":seen", ":queue", ":asked"}) {
      bench.client({"FLUSHALL"});
      if (repeated) got<Granted>(bench.send(whole_run(bench)).reply);
      bench.client({"SET", bench.key(suffix), "text"});
      const std::string before = digest(bench);
      EXPECT_EQ(send(bench, whole_run(bench)).text,
                "CRONLATCH_POISONED " + bench.key(suffix) + " type");
      EXPECT_EQ(digest(bench), before) << suffix;
    }
}

// ---- rights ----

class Rights : public ::testing::Test {
 protected:
  // The answer to `act` for a user with every right except these.
  template <class Act>
  RedisAnswer without(std::vector<std::string> rules, Act act) {
    std::vector<std::string> user{"ACL", "SETUSER", "half", "reset", "on", ">x"};
    user.insert(user.end(), rules.begin(), rules.end());
    EXPECT_FALSE(bench.client(user).is_error());
    bench.client({"AUTH", "half", "x"});
    RedisAnswer answer = act();
    bench.client({"AUTH", "default", ""});
    return answer;
  }
  static std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  }
  ScriptBench bench{debug_allowed()};
};

TEST_F(Rights, AMissingCommandStopsTheGrantNamesItAndChangesNothing) {
  for (const bool repeated : {false, true}) {
    // A repeated request has the rights that its first one tried.
    if (repeated && !can_read_access_list(bench)) break;
    for (const std::string& command : kCommands) {
      bench.client({"FLUSHALL"});
      if (repeated) got<Granted>(bench.send(whole_run(bench)).reply);
      const std::string before = digest(bench);
      const RedisAnswer answer =
          without({"~*", "+@all", "-" + command}, [&] { return send(bench, whole_run(bench)); });
      EXPECT_TRUE(answer.text.starts_with("NOPERM this user may not run " + upper(command) +
                                          " on " + bench.key()))
          << command << ": " << answer.text;
      EXPECT_EQ(digest(bench), before) << command;
    }
  }
}

TEST_F(Rights, AMissingCommandStopsTheGrantOfAFurtherSlot) {
  const auto with_slots = [](Acquire request) {
    request.slots = 2;
    return request;
  };
  for (const bool old_server : {false, true})
    for (const bool is_first : {false, true})
      for (const std::string& command : kCommands) {
        bench.client({"FLUSHALL"});
        if (!is_first) got<Granted>(bench.send(with_slots(bench.acquisition("a"))).reply);
        const std::string before = digest(bench);
        const Acquire request = with_slots(whole_run(bench));
        const RedisAnswer answer = without({"~*", "+@all", "-" + command}, [&] {
          return old_server ? send_as_to_an_old_server(bench, request) : send(bench, request);
        });
        EXPECT_TRUE(answer.text.starts_with("NOPERM this user may not run " + upper(command)))
            << command << ": " << answer.text;
        EXPECT_EQ(digest(bench), before) << command;
      }
}

TEST_F(Rights, AMissingEvalThatOnlyARestartedServerNeedsStopsTheGrant) {
  if (!can_read_access_list(bench))
    GTEST_SKIP() << "a script of Redis 6.2 cannot read the access list";
  const auto command = redis::encode(whole_run(bench), bench.prefix, bench.now + 3s);
  const std::string sha = bench.client({"SCRIPT", "LOAD", command[1]}).text;
  auto by_hash = command;
  by_hash[0] = "EVALSHA";
  by_hash[1] = sha;
  by_hash[11] = "9000000000000000";
  const RedisAnswer answer =
      without({"~*", "+@all", "-eval"}, [&] { return bench.client(by_hash); });
  EXPECT_EQ(answer.text, "NOPERM this user may not run EVAL");
}

TEST_F(Rights, AreTriedWithoutEffectBeforeRedis7) {
  for (const std::string state : {"new", "free", "expired"})
    for (const std::string& command : kCommands) {
      bench.client({"FLUSHALL"});
      if (state != "new") got<Granted>(bench.acquire("a"));
      if (state == "free") got<Released>(bench.release("a"));
      if (state == "expired") bench.pass(1h);
      const std::string before = digest(bench);
      const RedisAnswer answer = without({"~*", "+@all", "-" + command}, [&] {
        return send_as_to_an_old_server(bench, whole_run(bench));
      });
      EXPECT_TRUE(answer.text.starts_with("NOPERM this user may not run " + upper(command)))
          << state << ' ' << command << ": " << answer.text;
      EXPECT_EQ(digest(bench), before) << state << ' ' << command;
    }
}

TEST_F(Rights, AreTriedWithoutChangingAGrant) {
  const Acquire request = whole_run(bench);
  const RedisAnswer first = send_as_to_an_old_server(bench, request);
  ASSERT_EQ(first.elements.size(), 5u) << first.text;
  EXPECT_EQ(first.elements[0].text, "granted");
  const RedisAnswer again = send_as_to_an_old_server(bench, request);
  ASSERT_EQ(again.elements.size(), 5u) << again.text;
  EXPECT_EQ(again.elements[3].text, first.elements[3].text);
  got<Released>(bench.release("b"));
  EXPECT_EQ(bench.counted("b", "acquired"), 1);
}

TEST_F(Rights, AreTriedWithoutAGrantWhenMemoryIsFull) {
  bench.client({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(send_as_to_an_old_server(bench, whole_run(bench)).text.starts_with("OOM"));
  EXPECT_EQ(bench.client({"DBSIZE"}).integer, 0);
}

// ---- commands that a server does not have ----

TEST(MissingCommand, IsNamedBeforeAnyWrite) {
  for (const std::string& command : kCommands) {
    ScriptBench bench({"--rename-command", command, "x-command"});
    const RedisAnswer answer = send(bench, whole_run(bench));
    std::string name = command;
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(answer.text, "CRONLATCH_NO_COMMAND " + name);
    EXPECT_EQ(bench.client({"DBSIZE"}).integer, 0) << command;
  }
}

}  // namespace
}  // namespace cronlatch::testing
