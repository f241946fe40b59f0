// SPDX-License-Identifier: Apache-2.0
// Keys that are damaged or belong to another program: a verb that reads them changes nothing (G1,
// C4).
#include "writing_calls.h"

namespace cronlatch::testing {
namespace {

class DamagedKeys : public ::testing::Test {
 protected:
  // Every call returns an error that names the key and the field, and changes nothing.
  void expect_refused(const std::vector<WritingCall>& by, const std::vector<std::string>& damage,
                      const std::string& where) {
    for (const WritingCall& call : by) {
      bench.client({"FLUSHALL"});
      bench.now = {1'763'690'000'000'000};
      call.prepare(bench);
      EXPECT_FALSE(bench.client(damage).is_error());
      const std::string before = digest(bench);
      const RedisAnswer answer = call.send(bench);
      EXPECT_TRUE(answer.is_error()) << call.name << ' ' << where;
      EXPECT_TRUE(answer.text.starts_with("CRONLATCH_POISONED " + where))
          << call.name << ' ' << where << ": " << answer.text;
      EXPECT_EQ(digest(bench), before) << call.name << ' ' << where;
    }
  }
  // The calls that find a record.
  static std::vector<WritingCall> on_a_record() {
    const auto all = writing_calls();
    return {all[0], all[1], all[2], all[4], all[6], all[8], all[9], all[10], all[11], all[12]};
  }
  ScriptBench bench{debug_allowed()};
};

TEST_F(DamagedKeys, AnInvalidNumberInTheRecordStopsEveryVerb) {
  const std::string key = bench.key();
  for (const std::string field :
       {"fence", "expires", "acquired", "ttl", "born", "attempt", "day", "stole", "slots"})
    for (const std::string value : {"abc", "", "-1", "1.5", "1e15", "007", " 5", "9007199254740992",
                                    "99999999999999999999", "nan", "0x10"})
      expect_refused(on_a_record(), {"HSET", key, field, value}, key + " " + field);
}

TEST_F(DamagedKeys, ARecordWithOtherFieldsStopsEveryVerb) {
  const std::string key = bench.key();
  expect_refused(on_a_record(), {"HSET", key, "state", "mine"}, key + " state");
  expect_refused(on_a_record(), {"HSET", key, "slots", "0"}, key + " slots");
  expect_refused(on_a_record(), {"HSET", key, "slots", "1001"}, key + " slots");
  expect_refused(on_a_record(), {"HSET", key, "fence", "0"}, key + " fence");
  expect_refused(on_a_record(), {"HSET", key, "fence", "9007199254740991"}, key + " fence");
  for (const std::string field :
       {"state", "owner", "holder", "job", "group", "once", "fence", "expires"})
    expect_refused(on_a_record(), {"HDEL", key, field}, key + " " + field);
}

// The further slots are read with every record that has several slots.
TEST_F(DamagedKeys, ADamagedSlotStopsEveryVerb) {
  const std::string key = bench.key(":slots");
  for (const std::string packed :
       {"", "x", "held", "held 1 5 0 1 1 1 0 0 1 0 0 0 0 0 ", "held 1 5 0 1 1 1 0 0 1 0 0 0 0 0 ab",
        "held 1 0 0 1 1 1 0 0 1 0 0 0 0 0 a", "mine 1 5 0 1 1 1 0 0 1 0 0 0 0 0 a",
        "held 1 05 0 1 1 1 0 0 1 0 0 0 0 0 a", "held -1 5 0 1 1 1 0 0 1 0 0 0 0 0 a"})
    expect_refused(on_a_record(),
                   {"EVAL",
                    "redis.call('HSET', KEYS[1], 'slots', '2') "
                    "redis.call('HSET', KEYS[2], '2', ARGV[1])",
                    "2", bench.key(), key, packed},
                   key + " 2");
  expect_refused(on_a_record(),
                 {"EVAL",
                  "redis.call('HSET', KEYS[1], 'slots', '2') "
                  "redis.call('SET', KEYS[2], '2')",
                  "2", bench.key(), key},
                 key + " type");
}

TEST_F(DamagedKeys, ATextThatIsLongerThanAnyOptionStopsEveryVerb) {
  const std::string key = bench.key();
  for (const std::string field : {"owner", "holder", "job", "group", "once"})
    for (const std::size_t size : {std::size_t{4097}, std::size_t{1'000'000}})
      expect_refused(on_a_record(), {"HSET", key, field, std::string(size, 'x')},
                     key + " " + field);
}

TEST_F(DamagedKeys, ATextThatIsLongerThanOptionsAreNowIsStillRead) {
  hold_by_a(bench);
  bench.client({"HSET", bench.key(), "holder", std::string(4096, 'x')});
  EXPECT_EQ(got<Busy>(bench.acquire("b")).holder.size(), 4096u);
  got<Renewed>(bench.renew("a"));
}

TEST_F(DamagedKeys, AHashOfAnotherProgramIsNotReadAsANewLock) {
  const std::string foreign = "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'a', 'b')";
  expect_refused(writing_calls(), {"EVAL", foreign, "1", bench.key()}, bench.key() + " state");
}

TEST_F(DamagedKeys, AKeyOfAnotherTypeStopsEveryVerbThatNeedsIt) {
  const auto stops = [&](const std::vector<WritingCall>& verbs, const std::string& suffix) {
    expect_refused(verbs, {"SET", bench.key(suffix), "text"}, bench.key(suffix) + " type");
  };
  const auto all = writing_calls();
  const WritingCall of_a_group{"acquire of a group", hold_by_a, [](ScriptBench& b) {
                                 auto a = b.acquisition("b");
                                 a.identity.group = "uid";
                                 return send_raw(b, a);
                               }};
  const WritingCall of_a_run{"acquire of a run", hold_by_a, [](ScriptBench& b) {
                               auto a = b.acquisition("b");
                               a.identity.once = "tick";
                               return send_raw(b, a);
                             }};
  stops(on_a_record(), "");
  stops(on_a_record(), ":stats");
  stops({all[3], all[5], all[7]}, ":stats");
  stops({all[0], all[5], all[6], all[9], all[10], of_a_group}, ":groups");
  stops({all[0], all[1], all[2], all[5], all[6], all[7], all[9], all[10]}, ":seen");
  for (const char* queue : {":queue", ":asked"}) stops({all[0], all[6], all[7], all[10]}, queue);
  stops({all[6], all[10], all[11]}, ":once:ns/a");
  stops({of_a_run}, ":once:ns/b");
}

TEST_F(DamagedKeys, AKeyOfAnotherTypeThatAVerbDoesNotNeedIsIgnored) {
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

TEST_F(DamagedKeys, C4AnInvalidCounterStopsTheVerbThatChangesIt) {
  const auto all = writing_calls();
  const std::string stats = bench.key(":stats");
  const auto spoil = [&](const WritingCall& call, const std::string& field) {
    for (const std::string value :
         {"x", "007", "1.5", "-3", "9007199254740992", "9007199254740991"})
      expect_refused({call}, {"HSET", stats, field, value}, stats + " " + field);
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

TEST_F(DamagedKeys, AnInvalidDateStopsTheVerbThatReadsIt) {
  const auto all = writing_calls();
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

TEST_F(DamagedKeys, AnInvalidReservationStopsTheVerbThatReadsIt) {
  const auto wait = [](ScriptBench& b) {
    auto a = b.acquisition("b");
    a.if_busy = IfBusy::wait;
    return send_raw(b, a);
  };
  const WritingCall of_a_waiter{"acquire of a run that waits",
                                [&](ScriptBench& b) {
                                  b.acquire("a");
                                  wait(b);
                                  b.release("a");
                                },
                                wait};
  for (const std::string value : {"", "x", "5", "5:", "5:6", ":6:b", "x:6:b", "5:-1:b"})
    expect_refused({of_a_waiter}, {"HSET", bench.key(), "turn", value}, bench.key() + " turn");
}

TEST_F(DamagedKeys, AnInvalidMinHoldStopsTheVerbThatReadsIt) {
  const auto all = writing_calls();
  for (const std::string value : {"", "x", "5", "5:", ":5", "5:-1", "5:9007199254740992"})
    expect_refused({all.back()}, {"HSET", bench.key(), "min_hold", value},
                   bench.key() + " min_hold");
}

}  // namespace
}  // namespace cronlatch::testing
