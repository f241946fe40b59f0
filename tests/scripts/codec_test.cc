// SPDX-License-Identifier: Apache-2.0
// The codec without a server: names of keys, encoded requests, and the checks of every field of a
// reply.
#include <gtest/gtest.h>

#include <limits>

#include "store/redis/script_codec.h"
#include "store/redis/scripts.h"

namespace cronlatch::testing {
namespace {

using namespace std::chrono_literals;
using redis::Fields;

constexpr ServerTime kNow{1'763'690'000'123'456};

Acquire acquire() {
  Acquire a;
  a.lock = "ns/name";
  a.claim = {"0f", 3};
  a.identity = {"pod", "ns/job", "uid", "tick"};
  a.ttl = 30s;
  a.once_ttl = 24h;
  a.if_busy = IfBusy::timed_out;
  a.waited = 4s;
  a.min_hold = 1min;
  a.min_uptime = 10min;
  a.slots = 3;
  return a;
}

std::vector<std::string> after_script(const std::vector<std::string>& command) {
  return {command.begin() + 2, command.end()};
}

TEST(ScriptCodec, EncodesTheTextEveryKeyAndEveryArgument) {
  const auto command = redis::encode(acquire(), "p:", kNow);

  EXPECT_EQ(command[0], "EVAL");
  EXPECT_EQ(command[1], scripts::acquire.text);
  EXPECT_EQ(after_script(command), (std::vector<std::string>{"8",
                                                             "p:{ns/name}",
                                                             "p:{ns/name}:stats",
                                                             "p:{ns/name}:groups",
                                                             "p:{ns/name}:once:ns/job",
                                                             "p:{ns/name}:seen",
                                                             "p:{ns/name}:queue",
                                                             "p:{ns/name}:asked",
                                                             "p:{ns/name}:slots",
                                                             "1763690000123456",
                                                             "0f",
                                                             "3",
                                                             "30000000",
                                                             "pod",
                                                             "ns/job",
                                                             "uid",
                                                             "tick",
                                                             "86400000000",
                                                             "timed_out",
                                                             "4000",
                                                             "2",
                                                             "60000000",
                                                             "600",
                                                             "3"}));
}

TEST(ScriptCodec, EncodesWithAReleaseTheDataThatOutlivesTheLease) {
  Release release;
  release.lock = "ns/name";
  release.claim = {"0f", 3};
  release.identity = {"pod", "ns/job", "uid", "tick"};
  release.mark_done = true;
  const auto command = redis::encode(release, "p:", kNow);

  EXPECT_EQ(std::vector<std::string>(command.end() - 4, command.end()),
            (std::vector<std::string>{"ns/job", "tick", "1", "uid"}));
}

TEST(ScriptCodec, KeepsEveryKeyOfALockInOneSlot) {
  Release release;
  release.lock = "ns/name";
  const auto command = redis::encode(release, "p:", kNow);

  EXPECT_EQ(command[6], "p:{ns/name}:once");
  for (std::size_t i = 3; i < 11; ++i)
    EXPECT_TRUE(command[i].starts_with("p:{ns/name}")) << command[i];
}

TEST(ScriptCodec, EncodesOnlyNumbersThatAScriptRepresentsExactly) {
  auto longest = acquire();
  longest.once_ttl = Millis::max() / 1000;
  longest.waited = -5ms;
  const auto command =
      redis::encode(longest, "p:", ServerTime{std::numeric_limits<std::int64_t>::max()});

  EXPECT_EQ(command[11], "9007199254740991");
  EXPECT_EQ(command[19], "1000000000000000");
  EXPECT_EQ(command[21], "0");
}

TEST(ScriptCodec, DecodesEveryVerdict) {
  const auto decoded = [](const Request& verb, std::vector<std::string> reply) {
    return redis::decode(verb, reply);
  };

  EXPECT_EQ(decoded(acquire(), {"granted", "7", "1", "1763690000123456", "1"}).reply,
            Reply(Granted{1'763'690'000'123'456, {}, true, true}));
  EXPECT_EQ(decoded(acquire(), {"granted", "7", "1", "5", "0"}).now, ServerTime{7});
  EXPECT_TRUE(decoded(acquire(), {"granted", "7", "1", "5", "0"}).index);
  EXPECT_EQ(decoded(acquire(), {"granted", "7", "1", "5", "0", "6e1f"}).reply,
            Reply(Granted{.fence = 5, .server = "6e1f"}));
  EXPECT_EQ(
      decoded(acquire(), {"busy", "7", "0", "cooling", "pod", "job", "5", "9", "8", "1", "", ""})
          .reply,
      Reply(Busy{BusyReason::cooling, "pod", "job", 5, 9us, 8us, true}));
  EXPECT_EQ(
      decoded(acquire(), {"busy", "7", "0", "queued", "", "", "0", "0", "8", "0", "3", "0f"}).reply,
      Reply(Busy{BusyReason::queued, "", "", 0, 0us, 8us, false, 3, "0f"}));
  EXPECT_EQ(decoded(acquire(), {"quarantine", "7", "0", "250"}).reply, Reply(Quarantined{250us}));
  EXPECT_EQ(decoded(Renew{}, {"kept", "7", "0", "1"}).reply, Reply(Renewed{{}, true}));
  EXPECT_EQ(decoded(Renew{}, {"not_holder", "7", "0", "revoked"}).reply,
            Reply(NotHolder{LostReason::revoked}));
  EXPECT_EQ(decoded(Release{}, {"freed", "7", "0", ""}).reply, Reply(Released{}));
  EXPECT_EQ(decoded(Release{}, {"freed", "7", "0", "0f"}).reply, Reply(Released{"0f"}));
  EXPECT_EQ(decoded(Release{}, {"not_holder", "7", "0", "taken", "0f"}).reply,
            Reply(NotHolder{LostReason::taken, "0f"}));
  EXPECT_EQ(decoded(Release{}, {"stale", "7", "0", "1"}).reply, Reply(TooLate{true}));
}

TEST(ScriptCodec, DecodesAnInvalidReplyAsUnavailable) {
  const std::vector<std::pair<Request, std::vector<std::string>>> wrong = {
      {acquire(), {}},
      {acquire(), {"granted"}},
      {acquire(), {"granted", "7", "0", "5"}},
      {acquire(), {"granted", "7", "0", "0", "0"}},
      {acquire(), {"granted", "7", "0", "5", "0", "0", "0"}},
      {acquire(), {"granted", "7", "0", "-5", "0"}},
      {acquire(), {"granted", "7", "0", "9007199254740992", "0"}},
      {acquire(), {"granted", "7", "0", "1.76369e+15", "0"}},
      {acquire(), {"granted", "", "0", "5", "0"}},
      {acquire(), {"granted", "7", "yes", "5", "0"}},
      {acquire(), {"kept", "7", "0", "0"}},
      {acquire(), {"freed", "7", "0"}},
      {acquire(), {"busy", "7", "0", "asleep", "", "", "0", "0", "0", "0", "", ""}},
      {acquire(), {"busy", "7", "0", "held", "", "", "0", "0", "0", "0"}},
      {acquire(), {"busy", "7", "0", "held", "", "", "0", "0", "0", "0", "101", ""}},
      {acquire(), {"busy", "7", "0", "held", "", "", "0", "0", "0", "0", "-1", ""}},
      {Release{}, {"freed", "7", "0"}},
      {Release{}, {"not_holder", "7", "0", "taken"}},
      {Renew{}, {"granted", "7", "0", "5", "0"}},
      {Renew{}, {"not_holder", "7", "0", "bored"}},
      {Release{}, {"kept", "7", "0", "0"}},
  };
  for (const auto& [request, reply] : wrong) {
    const auto decoded = redis::decode(request, reply);
    ASSERT_TRUE(std::holds_alternative<Unavailable>(decoded.reply));
    EXPECT_FALSE(std::get<Unavailable>(decoded.reply).unsent);
    EXPECT_EQ(decoded.now, ServerTime{});
    EXPECT_FALSE(decoded.index);
  }
}

TEST(ScriptCodec, DecodesARevocationAndRefusesOtherReplies) {
  const auto revoked = redis::decode_revoke({"revoked", "7", "0", "lease", "pod", "5", "9"});
  ASSERT_TRUE(revoked.ok());
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(revoked->holder, "pod");
  EXPECT_EQ(revoked->fence, 5u);
  EXPECT_EQ(revoked->remaining, 9us);
  EXPECT_FALSE(revoked->was_cooling);
  EXPECT_TRUE(redis::decode_revoke({"revoked", "7", "0", "min_hold", "", "5", "9"})->was_cooling);
  EXPECT_FALSE(redis::decode_revoke({"revoked", "7", "0", "none", "", "0", "0"})->was_held);

  EXPECT_FALSE(redis::decode_revoke({}).ok());
  EXPECT_FALSE(redis::decode_revoke({"stale", "7", "0", "0"}).ok());
  EXPECT_FALSE(redis::decode_revoke({"revoked", "7", "0", "lease", "pod", "5"}).ok());
  EXPECT_FALSE(redis::decode_revoke({"revoked", "7", "0", "1", "pod", "5", "9"}).ok());
}

Fields record() {
  return {{"state", "held"},
          {"owner", "0f"},
          {"attempt", "2"},
          {"holder", "pod"},
          {"job", "ns/job"},
          {"group", ""},
          {"once", "tick"},
          {"fence", "1763690000000000"},
          {"stole", "0"},
          {"acquired", "1763690000000000"},
          {"expires", "1763690030000000"},
          {"ttl", "30000000"},
          {"born", "1"},
          {"day", "20413"},
          {"slots", "1"}};
}

TEST(ScriptCodec, ShowsALockFromItsHashes) {
  const auto view = redis::decode_view(
      "ns/name", record(), {{"acquired|ns/job", "3"}, {"released|ns/job", "2"}, {"ungated|", "1"}},
      kNow);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->lock, "ns/name");
  EXPECT_EQ(view->state, LockState::held);
  EXPECT_EQ(view->identity, (Identity{"pod", "ns/job", "", "tick"}));
  EXPECT_EQ(view->fence, 1'763'690'000'000'000u);
  EXPECT_EQ(view->attempt, 2u);
  EXPECT_EQ(view->now, kNow);
  EXPECT_EQ(view->expires.us, 1'763'690'030'000'000);
  EXPECT_EQ(view->ttl, 30s);
  EXPECT_EQ(view->jobs.at("ns/job").get("acquired"), 3);
  EXPECT_EQ(view->jobs.at("").get("ungated"), 1);
}

TEST(ScriptCodec, ShowsAnUnknownLockAsFreeAndRefusesOtherHashes) {
  const auto unknown = redis::decode_view("ns/name", {}, {}, kNow);
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->state, LockState::free);
  EXPECT_TRUE(unknown->jobs.empty());

  auto foreign = record();
  foreign["fence"] = "abc";
  EXPECT_EQ(redis::decode_view("ns/name", foreign, {}, kNow).error().code, Code::config);
  EXPECT_FALSE(redis::decode_view("ns/name", {{"state", "held"}}, {}, kNow).ok());
  EXPECT_FALSE(redis::decode_view("ns/name", record(), {{"acquired", "3"}}, kNow).ok());
  EXPECT_FALSE(redis::decode_view("ns/name", record(), {{"acquired|", "-3"}}, kNow).ok());
}

TEST(ScriptCodec, RefusesTextsThatAreLongerThanAnyOption) {
  const std::string honest(4096, 'x'), huge(4097, 'x');
  for (const char* field : {"holder", "job", "group", "once"}) {
    auto fields = record();
    fields[field] = honest;
    EXPECT_TRUE(redis::decode_view("ns/name", fields, {}, kNow).ok()) << field;
    fields[field] = huge;
    const auto view = redis::decode_view("ns/name", fields, {}, kNow);
    ASSERT_FALSE(view.ok()) << field;
    EXPECT_NE(view.error().message.find(field), std::string::npos) << view.error().message;
  }
  EXPECT_TRUE(redis::decode_view("ns/name", record(), {{"acquired|" + honest, "1"}}, kNow).ok());
  const auto view = redis::decode_view("ns/name", record(), {{"acquired|" + huge, "1"}}, kNow);
  ASSERT_FALSE(view.ok());
  EXPECT_LT(view.error().message.size(), 300u);
  const std::vector<std::string> busy{"busy", "7", "0", "held", huge, "",
                                      "5",    "0", "0", "0",    "",   ""};
  EXPECT_TRUE(std::holds_alternative<Unavailable>(redis::decode(acquire(), busy).reply));
}

TEST(ScriptCodec, DecodesTheRefusalOfAnotherNumberOfSlots) {
  const Reply reply = redis::decode(acquire(), {"slots", "7", "0", "5", "pod\n"}).reply;
  EXPECT_EQ(reply, Reply(rules::other_slots(acquire(), 5, "pod\n")));
  EXPECT_EQ(std::get<Unavailable>(reply).error.code, Code::config);
  EXPECT_EQ(std::get<Unavailable>(reply).error.message,
            "slots is 3, and lock ns/name has 5, which is held by pod\\n");
  for (const char* wrong : {"0", "3", "1001", "x", ""}) {
    const Reply other = redis::decode(acquire(), {"slots", "7", "0", wrong, "pod"}).reply;
    EXPECT_EQ(std::get<Unavailable>(other).error.code, Code::unreachable) << wrong;
  }
}

constexpr const char* kPacked =
    "held 2 1763690000000007 0 1763690000000000 1763690030000000 30000000 0 1763690002000000 "
    "2 5 6 0 4 1 0fpod-2ns/jobtick0";

TEST(ScriptCodec, UnpacksASlot) {
  const auto slot = redis::unpack_slot(kPacked);
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->state, rules::HoldState::held);
  EXPECT_EQ(slot->claim, (Claim{"0f", 2}));
  EXPECT_EQ(slot->identity, (Identity{"pod-2", "ns/job", "", "tick"}));
  EXPECT_EQ(slot->fence, 1'763'690'000'000'007u);
  EXPECT_EQ(slot->expires.us, 1'763'690'030'000'000);
  EXPECT_EQ(slot->ttl, 30s);
  EXPECT_EQ(slot->turn, (rules::Turn{"0", {1'763'690'002'000'000}}));
}

TEST(ScriptCodec, RefusesAnyOtherTextOfASlot) {
  const std::string packed = kPacked;
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(redis::unpack_slot(packed.substr(0, size))) << size;
  EXPECT_FALSE(redis::unpack_slot(packed + "x"));
  EXPECT_FALSE(redis::unpack_slot("none" + packed.substr(4)));
  EXPECT_FALSE(redis::unpack_slot("mine" + packed.substr(4)));
  for (std::size_t at = 5; at < packed.find("0f"); ++at) {
    if (packed[at] == ' ') continue;
    std::string damaged = packed;
    damaged[at] = '-';
    EXPECT_FALSE(redis::unpack_slot(damaged)) << damaged;
  }
}

TEST(ScriptCodec, ShowsTheGrantsOfALockWithSeveralSlots) {
  auto fields = record();
  fields["slots"] = "3";
  const auto view = redis::decode_view("ns/name", fields, {}, kNow, {{"3", kPacked}});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->slots, 3u);
  EXPECT_EQ(view->fence, 1'763'690'000'000'007u);
  ASSERT_EQ(view->grants.size(), 2u);
  EXPECT_EQ(view->grants[0].identity.holder, "pod");
  EXPECT_EQ(view->grants[1].identity.holder, "pod-2");
  EXPECT_FALSE(redis::decode_view("ns/name", fields, {}, kNow, {{"3", "x"}}).ok());
  // Without several slots the key is what an earlier record left.
  EXPECT_TRUE(redis::decode_view("ns/name", record(), {}, kNow, {{"3", "x"}}).ok());
  for (const char* wrong : {"0", "1001", "x"}) {
    fields["slots"] = wrong;
    EXPECT_FALSE(redis::decode_view("ns/name", fields, {}, kNow).ok()) << wrong;
  }
}

TEST(ScriptCodec, RefusesACounterThatCannotGrow) {
  EXPECT_TRUE(redis::decode_view("a", record(), {{"hold_ms|", "9006199254740991"}}, kNow).ok());
  EXPECT_FALSE(redis::decode_view("a", record(), {{"hold_ms|", "9006199254740992"}}, kNow).ok());
}

TEST(ScriptCodec, ShowsTheMinHoldOfAGrantThatCrashedAndNoOther) {
  const ServerTime later{1'763'690'060'000'000};
  auto fields = record();
  fields["min_hold"] = "1763690000000000:600000000";
  const auto view = redis::decode_view("ns/name", fields, {}, later);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state, LockState::expired);
  EXPECT_EQ(view->closed_until().us, 1'763'690'600'000'000);
  EXPECT_EQ(redis::decode_view("ns/name", fields, {}, kNow)->closed_until().us, 0);

  fields["min_hold"] = "1763689999999999:600000000";
  EXPECT_EQ(redis::decode_view("ns/name", fields, {}, later)->closed_until().us, 0);
  for (const char* wrong : {"", "x", "5", "5:", ":5", "5:-1"}) {
    fields["min_hold"] = wrong;
    EXPECT_FALSE(redis::decode_view("ns/name", fields, {}, later).ok()) << wrong;
  }
}

TEST(ScriptCodec, AppendsTheEpochAndItsArgumentsOnlyWithStrict) {
  const std::optional<redis::StrictRequest> strict = redis::StrictRequest{5'750'000us, 2};
  Renew renew;
  renew.lock = "ns/name";
  for (const Request& request : {Request(acquire()), Request(renew)}) {
    const auto plain = after_script(redis::encode(request, "p:", kNow));
    const auto command =
        after_script(redis::encode(request, "p:", kNow, redis::ScriptBy::hash, strict));
    ASSERT_EQ(plain[0], "8");
    ASSERT_EQ(command[0], "9");
    EXPECT_EQ(command[9], "p:epoch") << "the key that common_epoch.lua finds by its number";
    EXPECT_EQ(command.size(), plain.size() + 3);
    EXPECT_EQ(command[command.size() - 2], "5750000");
    EXPECT_EQ(command.back(), "2");
  }
  Release release;
  release.lock = "ns/name";
  EXPECT_EQ(redis::encode(release, "p:", kNow, redis::ScriptBy::hash, strict),
            redis::encode(release, "p:", kNow, redis::ScriptBy::hash));
}

TEST(ScriptCodec, EntersALockInTheIndexWithItsTime) {
  const auto command = redis::encode_index("ns/name", "p:", kNow);

  EXPECT_EQ(command[0], "EVAL");
  EXPECT_EQ(command[1], scripts::index.text);
  EXPECT_EQ(after_script(command), (std::vector<std::string>{"1", "p:index", "1763690000123456",
                                                             "ns/name", "1755827600123456"}));
}

TEST(Scripts, ContainTheCommonPartAndNoComments) {
  for (const std::string_view script :
       {scripts::acquire.text, scripts::renew.text, scripts::release.text, scripts::revoke.text}) {
    EXPECT_EQ(script.find("--"), std::string_view::npos);
    EXPECT_NE(script.find("local function read_clock()"), std::string_view::npos);
    EXPECT_NE(script.find("\nreturn run("), std::string_view::npos);
  }
}

}  // namespace
}  // namespace cronlatch::testing
