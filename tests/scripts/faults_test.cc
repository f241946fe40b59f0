// SPDX-License-Identifier: Apache-2.0
// What a store may do to a script: full memory, forbidden commands, keys that are not ours. In
// every case either all of a verb happens or nothing (G1, G2, C4).
#include <functional>

#include "script_bench.h"

namespace cronlatch::testing {
namespace {

const std::vector<std::string> kDebugAllowed{"--enable-debug-command", "yes"};

// Of everything the server keeps, with the presence of expiries.
std::string digest(ScriptBench& bench) { return bench.witness({"DEBUG", "DIGEST"}).text; }

// A verb that writes, and what must be there before it.
struct Deed {
  std::string name;
  std::function<void(ScriptBench&)> prepare;
  std::function<RedisAnswer(ScriptBench&)> act;
};

RedisAnswer send(ScriptBench& bench, const Request& request) {
  return bench.raw(redis::encode(request, bench.prefix, bench.now + 3s));
}

Acquire waited_for(ScriptBench& bench, const std::string& owner) {
  auto a = bench.acquisition(owner);
  a.identity.group = "uid";
  a.waited = 4s;
  return a;
}

Release succeeded(ScriptBench& bench) {
  auto r = bench.end("a");
  r.identity.once = "tick";
  r.identity.group = "uid";
  r.overlong = true;
  return r;
}

void hold(ScriptBench& bench) {
  bench.client({"ZADD", bench.key(":seen"), "5", "old:1:h"});
  bench.client({"ZADD", bench.key(":groups"), "5", "old"});
  std::vector<std::string> finished{"ZADD", bench.key(":once:ns/a"), "5", "old"};
  for (int i = 0; i < 129; ++i) {
    finished.push_back(std::to_string(bench.now.us - i));
    finished.push_back("t" + std::to_string(i));
  }
  bench.client(finished);
  // Without a group and as a first grant of an owner of its own: nothing above is purged yet.
  bench.client({"HSET", bench.key(":stats"), "acquired|ns/a", "7", "released|ns/a", "7"});
  bench.acquire("a");
}

std::vector<Deed> deeds() {
  return {
      {"grant that steals", [](ScriptBench& b) { hold(b), b.pass(30s); },
       [](ScriptBench& b) { return send(b, waited_for(b, "b")); }},
      {"acquire asked again", hold, [](ScriptBench& b) { return send(b, b.acquisition("a")); }},
      {"counted skip", hold, [](ScriptBench& b) { return send(b, b.acquisition("b")); }},
      {"clamp", [](ScriptBench& b) { hold(b), b.pass(-1h); },
       [](ScriptBench& b) {
         auto a = b.acquisition("b");
         a.if_busy = IfBusy::wait;
         return send(b, a);
       }},
      {"renew", hold, [](ScriptBench& b) { return send(b, b.renewal("a")); }},
      {"restore",
       [](ScriptBench& b) {
         hold(b);
         b.client({"DEL", b.key()});
       },
       [](ScriptBench& b) {
         auto r = b.renewal("a");
         r.fence = 17;
         r.identity.group = "uid";
         return send(b, r);
       }},
      {"release", hold, [](ScriptBench& b) { return send(b, succeeded(b)); }},
      {"lost report", hold, [](ScriptBench& b) { return send(b, b.end("c", RunVerdict::lost)); }},
      {"revoke", hold,
       [](ScriptBench& b) { return b.raw(redis::encode_revoke(b.lock, b.prefix, b.now)); }},
      {"restore over an older record", [](ScriptBench& b) { hold(b), b.pass(30s); },
       [](ScriptBench& b) {
         auto r = b.renewal("b");
         r.fence = static_cast<Fence>(b.now.us);
         r.identity.group = "uid";
         return send(b, r);
       }},
      {"report of a former holder", [](ScriptBench& b) { hold(b), b.pass(30s), b.acquire("b"); },
       [](ScriptBench& b) {
         auto r = succeeded(b);
         r.fence = 17;
         return send(b, r);
       }},
      {"mark with a repeated release", [](ScriptBench& b) { hold(b), b.release("a"); },
       [](ScriptBench& b) { return send(b, succeeded(b)); }},
      {"end of a min-hold",
       [](ScriptBench& b) {
         hold(b);
         auto r = b.end("a");
         r.min_hold = 10min;
         b.send(r);
       },
       [](ScriptBench& b) { return b.raw(redis::encode_revoke(b.lock, b.prefix, b.now)); }},
      {"skip inside the min-hold of a crashed run",
       [](ScriptBench& b) {
         auto a = b.acquisition("a");
         a.min_hold = 10min;
         b.send(a);
         b.pass(30s);
       },
       [](ScriptBench& b) { return send(b, b.acquisition("b")); }},
  };
}

class FullMemory : public ::testing::Test {
 protected:
  FullMemory() {
    bench.acquire("a");
    bench.client({"CONFIG", "SET", "maxmemory", "1"});
  }
  ScriptBench bench{kDebugAllowed};
};

TEST_F(FullMemory, G2RefusesAGrantAndChangesNothing) {
  bench.lock = "ns/other";
  const std::string before = digest(bench);
  const auto refused = bench.send(bench.acquisition("b"));

  EXPECT_TRUE(got<Unavailable>(refused.reply).error.message.starts_with("OOM"));
  EXPECT_EQ(digest(bench), before);
}

TEST_F(FullMemory, G2LetsTheHolderAskAgainRenewAndRelease) {
  got<Granted>(bench.acquire("a"));
  got<Renewed>(bench.renew("a"));
  auto end = bench.end("a");
  end.identity.once = "tick";
  got<Released>(bench.send(end).reply);

  EXPECT_EQ(bench.counted("a", "released"), 1);
  EXPECT_TRUE(bench.record().once.contains("ns/a"));
}

TEST_F(FullMemory, G2LetsARecordBeRestored) {
  auto renewal = bench.renewal("a");
  bench.client({"FLUSHALL"});

  EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored);
}

TEST_F(FullMemory, G2LetsBusyBeCountedAndALeaseBeRevoked) {
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

TEST(Forbidden, EachCommandAloneIsNamedAndLeavesEverythingAsItWas) {
  const std::vector<std::string> commands{"type",    "hmget", "zmscore", "zrangebyscore",
                                          "zcard",   "pttl",  "hset",    "persist",
                                          "pexpire", "zadd",  "zrem",    "zremrangebyrank"};
  ScriptBench bench(kDebugAllowed);
  std::map<std::string, int> refused;
  for (const Deed& deed : deeds()) {
    for (const std::string& command : commands) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      deed.prepare(bench);
      const std::string before = digest(bench);
      bench.client({"ACL", "SETUSER", "half", "reset", "on", ">x", "~*", "+@all", "-" + command});
      bench.client({"AUTH", "half", "x"});
      const RedisAnswer answer = deed.act(bench);
      bench.client({"AUTH", "default", ""});
      if (!answer.is_error()) continue;
      ++refused[command];
      EXPECT_TRUE(answer.text.starts_with("NOPERM this user may not run " + upper(command) +
                                          " on " + bench.key()))
          << deed.name << " without " << command << ": " << answer.text;
      EXPECT_EQ(digest(bench), before) << deed.name << " without " << command;
    }
  }
  for (const std::string& command : commands)
    EXPECT_GT(refused[command], 0) << "no verb needs " << command;
}

TEST(Forbidden, AKeyThatMayOnlyBeReadLeavesEverythingAsItWas) {
  ScriptBench bench(kDebugAllowed);
  int refused = 0;
  for (const Deed& deed : deeds()) {
    for (const std::string suffix : {"", ":stats", ":groups", ":once:ns/a", ":seen"}) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      deed.prepare(bench);
      const std::string before = digest(bench);
      std::vector<std::string> user{"ACL", "SETUSER", "half", "reset", "on", ">x", "+@all", "%R~*"};
      for (const std::string writable :
           {"", ":stats", ":groups", ":once:ns/a", ":once:ns/b", ":seen"})
        if (writable != suffix) user.push_back("%W~" + bench.key(writable));
      bench.client(user);
      bench.client({"AUTH", "half", "x"});
      const RedisAnswer answer = deed.act(bench);
      bench.client({"AUTH", "default", ""});
      if (!answer.is_error()) continue;
      ++refused;
      EXPECT_TRUE(answer.text.starts_with("NOPERM")) << answer.text;
      EXPECT_EQ(digest(bench), before) << deed.name << " without " << suffix;
    }
  }
  EXPECT_GE(refused, 20);
}

class Poisoned : public ::testing::Test {
 protected:
  // Every deed answers an error that names the key and the field, and changes nothing.
  void expect_refused(const std::vector<Deed>& by, const std::vector<std::string>& poison,
                      const std::string& where) {
    for (const Deed& deed : by) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      deed.prepare(bench);
      EXPECT_FALSE(bench.client(poison).is_error());
      const std::string before = digest(bench);
      const RedisAnswer answer = deed.act(bench);
      EXPECT_TRUE(answer.is_error()) << deed.name << ' ' << where;
      EXPECT_TRUE(answer.text.starts_with("CRONLATCH_POISONED " + where))
          << deed.name << ' ' << where << ": " << answer.text;
      EXPECT_EQ(digest(bench), before) << deed.name << ' ' << where;
    }
  }
  // Those that meet a record.
  static std::vector<Deed> on_a_record() {
    const auto all = deeds();
    return {all[0], all[1], all[2], all[4], all[6], all[8], all[9], all[10], all[11], all[12]};
  }
  ScriptBench bench{kDebugAllowed};
};

TEST_F(Poisoned, ANumberOfTheRecordThatIsNoneOfOursStopsEveryVerb) {
  const std::string key = bench.key();
  for (const std::string field :
       {"fence", "expires", "acquired", "ttl", "born", "attempt", "day", "stole", "slots"})
    for (const std::string value : {"abc", "", "-1", "1.5", "1e15", "007", " 5", "9007199254740992",
                                    "99999999999999999999", "nan", "0x10"})
      expect_refused(on_a_record(), {"HSET", key, field, value}, key + " " + field);
}

TEST_F(Poisoned, ARecordOfAnotherShapeStopsEveryVerb) {
  const std::string key = bench.key();
  expect_refused(on_a_record(), {"HSET", key, "state", "mine"}, key + " state");
  expect_refused(on_a_record(), {"HSET", key, "slots", "2"}, key + " slots");
  expect_refused(on_a_record(), {"HSET", key, "fence", "0"}, key + " fence");
  expect_refused(on_a_record(), {"HSET", key, "fence", "9007199254740991"}, key + " fence");
  for (const std::string field :
       {"state", "owner", "holder", "job", "group", "once", "fence", "expires"})
    expect_refused(on_a_record(), {"HDEL", key, field}, key + " " + field);
}

TEST_F(Poisoned, ATextThatIsLongerThanAnyOptionStopsEveryVerb) {
  const std::string key = bench.key();
  for (const std::string field : {"owner", "holder", "job", "group", "once"})
    for (const std::size_t size : {std::size_t{4097}, std::size_t{1'000'000}})
      expect_refused(on_a_record(), {"HSET", key, field, std::string(size, 'x')},
                     key + " " + field);
}

TEST_F(Poisoned, ATextThatIsLongerThanOptionsAreNowIsStillRead) {
  hold(bench);
  bench.client({"HSET", bench.key(), "holder", std::string(4096, 'x')});
  EXPECT_EQ(got<Busy>(bench.acquire("b")).holder.size(), 4096u);
  got<Renewed>(bench.renew("a"));
}

TEST_F(Poisoned, AHashThatIsNotOursIsNoLockThatWasNeverGranted) {
  const std::string foreign = "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'a', 'b')";
  expect_refused(deeds(), {"EVAL", foreign, "1", bench.key()}, bench.key() + " state");
}

TEST_F(Poisoned, AKeyOfAnotherTypeStopsEveryVerbThatNeedsIt) {
  const auto stops = [&](const std::vector<Deed>& verbs, const std::string& suffix) {
    expect_refused(verbs, {"SET", bench.key(suffix), "text"}, bench.key(suffix) + " type");
  };
  const auto all = deeds();
  const Deed of_a_group{"acquire of a group", hold, [](ScriptBench& b) {
                          auto a = b.acquisition("b");
                          a.identity.group = "uid";
                          return send(b, a);
                        }};
  const Deed of_a_run{"acquire of a run", hold, [](ScriptBench& b) {
                        auto a = b.acquisition("b");
                        a.identity.once = "tick";
                        return send(b, a);
                      }};
  stops(on_a_record(), "");
  stops(on_a_record(), ":stats");
  stops({all[3], all[5], all[7]}, ":stats");
  stops({all[0], all[5], all[6], all[9], all[10], of_a_group}, ":groups");
  stops({all[0], all[1], all[2], all[5], all[6], all[7], all[9], all[10]}, ":seen");
  stops({all[6], all[10], all[11]}, ":once:ns/a");
  stops({of_a_run}, ":once:ns/b");
}

TEST_F(Poisoned, AKeyOfAnotherTypeThatAVerbHasNoNeedOfIsLeftAlone) {
  bench.acquire("a");
  for (const std::string suffix : {":groups", ":once:ns/a"})
    bench.client({"SET", bench.key(suffix), "text", "PX", "600000"});
  bench.read_sets = false;
  got<Renewed>(bench.renew("a"));
  got<Released>(bench.release("a"));
  got<Granted>(bench.acquire("b"));

  for (const std::string suffix : {":groups", ":once:ns/a"}) {
    EXPECT_EQ(bench.client({"GET", bench.key(suffix)}).text, "text");
    EXPECT_GT(bench.client({"PTTL", bench.key(suffix)}).integer, 0);
  }
}

TEST_F(Poisoned, C4ACounterThatIsNoNumberStopsTheVerbThatCountsIt) {
  const auto all = deeds();
  const std::string stats = bench.key(":stats");
  const auto spoil = [&](const Deed& deed, const std::string& field) {
    for (const std::string value :
         {"x", "007", "1.5", "-3", "9007199254740992", "9007199254740991"})
      expect_refused({deed}, {"HSET", stats, field, value}, stats + " " + field);
  };
  spoil(all[0], "stolen|ns/a");
  spoil(all[0], "acquired|ns/b");
  spoil(all[0], "wait_ms|ns/b");
  spoil(all[2], "runs_skipped|ns/b");
  spoil(all[6], "released|ns/a");
  spoil(all[6], "runs_succeeded|ns/a");
  spoil(all[6], "long|ns/a");
  spoil(all[7], "runs_lost|ns/c");
  spoil(all[8], "revoked|ns/a");
}

TEST_F(Poisoned, ADateThatIsNoneOfOursStopsTheVerbThatReadsIt) {
  const auto all = deeds();
  for (const std::string score : {"inf", "-1", "9007199254740994"}) {
    expect_refused({all[2]}, {"ZADD", bench.key(":seen"), score, "b:1:h"},
                   bench.key(":seen") + " b:1:h");
    expect_refused({all[6]}, {"ZADD", bench.key(":once:ns/a"), score, "tick"},
                   bench.key(":once:ns/a") + " tick");
  }
  for (const std::string score : {"inf", "9007199254740994"})
    expect_refused({all[0]}, {"ZADD", bench.key(":groups"), score, "other"},
                   bench.key(":groups") + " other");
}

TEST_F(Poisoned, AMinHoldThatIsNoneOfOursStopsTheVerbThatReadsIt) {
  const auto all = deeds();
  for (const std::string value : {"", "x", "5", "5:", ":5", "5:-1", "5:9007199254740992"})
    expect_refused({all.back()}, {"HSET", bench.key(), "min_hold", value},
                   bench.key() + " min_hold");
}

}  // namespace
}  // namespace cronlatch::testing
