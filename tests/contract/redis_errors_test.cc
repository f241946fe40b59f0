// SPDX-License-Identifier: Apache-2.0
// The error matrix: every class of error of a Redis server, for every verb, with its outcome. A
// scripted peer sends what a real server does not send on request; redis_refusal_test.cc has
// the errors of a real server.
#include "contract/redis_support.h"
#include "support/redis_peer.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

enum class After { keeps, drops };  // the connection

struct ErrorCase {
  const char* name;
  std::string answer;  // to EVAL
  Code code;
  bool transient;
  bool unexecuted;
  After after;
};

std::vector<ErrorCase> error_cases() {
  const auto error = [](const std::string& text) { return "-" + text + "\r\n"; };
  using enum After;
  const Code down = Code::unreachable;
  return {
      {"NOSCRIPT", error("NOSCRIPT No matching script."), down, true, false, drops},
      {"READONLY", error("READONLY You can't write against a read only replica."), down, true, true,
       drops},
      {"MOVED", error("MOVED 3999 127.0.0.1:6381"), Code::config, false, true, drops},
      {"ASK", error("ASK 3999 127.0.0.1:6381"), Code::config, false, true, drops},
      {"TRYAGAIN", error("TRYAGAIN Multiple keys request during rehashing of slot"), down, true,
       true, keeps},
      {"CLUSTERDOWN", error("CLUSTERDOWN The cluster is down"), down, true, true, drops},
      {"LOADING", error("LOADING Redis is loading the dataset in memory"), down, true, true, keeps},
      {"BUSY", error("BUSY Redis is busy running a script."), down, true, true, keeps},
      {"OOM", error("OOM command not allowed when used memory > 'maxmemory'."), down, true, true,
       keeps},
      {"MISCONF", error("MISCONF Redis is configured to save RDB snapshots"), down, true, true,
       keeps},
      {"NOREPLICAS", error("NOREPLICAS Not enough good replicas to write."), down, true, true,
       keeps},
      {"MASTERDOWN", error("MASTERDOWN Link with MASTER is down"), down, true, true, drops},
      {"NOAUTH", error("NOAUTH Authentication required."), Code::auth, false, true, drops},
      {"WRONGPASS", error("WRONGPASS invalid username-password pair"), Code::auth, false, true,
       drops},
      {"NOPERM", error("NOPERM this user has no permissions to run the 'eval' command"), Code::acl,
       false, true, drops},
      {"WRONGTYPE", error("WRONGTYPE Operation against a key holding the wrong kind of value"),
       Code::config, false, true, keeps},
      {"EOF", RedisPeer::kHangUp, down, true, false, drops},
      {"timeout", RedisPeer::kSilence, down, true, false, drops},
      {"POISONED", error("CRONLATCH_POISONED cronlatch:{a} fence"), Code::config, false, true,
       keeps},
      {"FOREIGN_KEY", error("CRONLATCH_FOREIGN_KEY cronlock.report"), Code::config, false, true,
       keeps},
      {"unknown", error("ERR no idea"), down, true, false, drops},
      {"wrapped",
       error("ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed"),
       down, true, true, keeps},
  };
}

class RedisErrors : public ::testing::TestWithParam<ErrorCase> {
 protected:
  RedisPeer peer_{RedisPeer::to_eval(GetParam().answer)};
  RedisProgram run_{spec_of(peer_.url())};

  static constexpr Millis kPatience{1'500};
  void expect_listed(Request request) {
    const ErrorCase& expected = GetParam();
    for (int round = 1; round <= 2; ++round) {
      std::visit([](auto& verb) { verb.give_up = boot_now() + kPatience; }, request);
      const auto reply = run_(request);
      ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
      EXPECT_EQ(unavailable_in(reply)->error.code, expected.code) << reply_text(reply);
      EXPECT_EQ(unavailable_in(reply)->transient, expected.transient) << reply_text(reply);
      EXPECT_EQ(unavailable_in(reply)->unsent, expected.unexecuted) << reply_text(reply);
      EXPECT_NE(unavailable_in(reply)->error.hint, "");
      EXPECT_THAT(unavailable_in(reply)->error.message, HasSubstr(std::to_string(peer_.port())));
    }
    EXPECT_EQ(peer_.connections(), expected.after == After::drops ? 2 : 1);
  }
};

TEST_P(RedisErrors, HaveTheListedOutcomeForAcquire) { expect_listed(run_.program.acquire()); }
TEST_P(RedisErrors, HaveTheListedOutcomeForRenew) { expect_listed(run_.program.renew(7)); }
TEST_P(RedisErrors, HaveTheListedOutcomeForRelease) { expect_listed(run_.program.release(7)); }
TEST_P(RedisErrors, HaveTheListedOutcomeForRevoke) {
  const auto revoked = run_.program.backend().revoke("shop/report", boot_now() + kPatience);
  ASSERT_FALSE(revoked.ok());
  EXPECT_EQ(revoked.error().code, GetParam().code) << revoked.error().message;
}

INSTANTIATE_TEST_SUITE_P(Classes, RedisErrors, ::testing::ValuesIn(error_cases()),
                         [](const auto& error_case) { return std::string(error_case.param.name); });

// ---- errors before the first request ----

// A peer that answers `command` with `answer`, everything else as usual.
RedisPeer::Script instead(const std::string& command, const std::string& answer) {
  return [=](const RedisPeer::Command& sent) {
    return sent[0] == command ? answer : RedisPeer::usual(sent);
  };
}

Unavailable down_from(RedisPeer& peer, StoreSpec spec, Millis patience = Millis(2'000)) {
  spec.url = peer.url();
  RedisProgram run(spec);
  const auto reply = run(run.hasty_acquire(patience));
  if (unavailable_in(reply) == nullptr) {
    ADD_FAILURE() << reply_text(reply);
    return {};
  }
  return *unavailable_in(reply);
}

TEST(RedisLogin, DoesNotShowThePasswordThatAnOldServerRepeats) {
  StoreSpec spec;
  spec.password = Secret("hunter2-canary");
  RedisPeer peer(instead("HELLO",
                         "-ERR unknown command `HELLO`, with args beginning with: `2`, `AUTH`, "
                         "`default`, `hunter2-canary`, \r\n"));
  const Unavailable down = down_from(peer, spec);
  EXPECT_EQ(down.error.code, Code::config);
  EXPECT_THAT(down.error.hint, HasSubstr("6.2"));
  EXPECT_THAT(down.error.hint, HasSubstr("rename-command"));
  EXPECT_THAT(down.error.message + down.error.hint, Not(HasSubstr("hunter2")));
}

TEST(RedisLogin, DoesNotShowThePasswordInAnyOtherError) {
  StoreSpec spec;
  spec.password = Secret("hunter2-canary");
  RedisPeer peer(instead("HELLO", "-ERR strange hunter2-canary and hunter2-canary\r\n"));
  const Unavailable down = down_from(peer, spec);
  EXPECT_THAT(down.error.message, HasSubstr("strange *** and ***"));
}

// A server answers WRONGPASS also if the user is known and no password was sent.
TEST(RedisLogin, WithoutAPasswordNamesTheOptionsThatSetOne) {
  StoreSpec spec;
  spec.username = "cron";
  RedisPeer peer(
      instead("HELLO", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"));
  const Unavailable without = down_from(peer, spec);
  EXPECT_EQ(without.error.code, Code::auth);
  EXPECT_THAT(without.error.hint, HasSubstr("no password is set"));
  spec.password = Secret("wrong");
  const Unavailable wrong = down_from(peer, spec);
  EXPECT_THAT(wrong.error.hint, HasSubstr("redis-username and password-file"));
  EXPECT_THAT(wrong.error.hint, HasSubstr("CRONLATCH_PASSWORD"));
}

TEST(RedisLogin, RefusesAServerThatIsTooOld) {
  RedisPeer peer(instead("HELLO", "*2\r\n$7\r\nversion\r\n$5\r\n6.0.9\r\n"));
  const Unavailable down = down_from(peer, {});
  EXPECT_EQ(down.error.code, Code::config);
  EXPECT_FALSE(down.transient);
}

TEST(RedisLogin, RefusesASentinel) {
  RedisPeer peer(instead("HELLO", "*2\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n"));
  EXPECT_EQ(down_from(peer, {}).error.code, Code::config);
}

TEST(RedisLogin, ReportsAServerWithTooManyClientsAsTransient) {
  RedisPeer peer([](const auto&) { return RedisPeer::kHangUp; }, RedisPeer::Pace::at_once,
                 "-ERR max number of clients reached\r\n");
  const Unavailable down = down_from(peer, {});
  EXPECT_TRUE(down.transient);
  EXPECT_TRUE(down.unsent);
  EXPECT_THAT(down.error.message, HasSubstr("too many clients"));
}

// A server without a password sends this to clients of other hosts, and closes the connection.
TEST(RedisLogin, ReportsProtectedModeAsARefusal) {
  RedisPeer peer([](const auto&) { return RedisPeer::kHangUp; }, RedisPeer::Pace::at_once,
                 "-DENIED Redis is running in protected mode because protected mode is enabled and "
                 "no password is set for the default user.\r\n");
  const Unavailable down = down_from(peer, {});
  EXPECT_EQ(down.error.code, Code::auth);
  EXPECT_FALSE(down.transient);
  EXPECT_TRUE(down.unsent);
  EXPECT_THAT(down.error.message, HasSubstr("from its own host only"));
  EXPECT_THAT(down.error.hint, HasSubstr("set a password"));
}

TEST(RedisLogin, ReportsAnotherProtocol) {
  RedisPeer peer([](const auto&) { return RedisPeer::kHangUp; }, RedisPeer::Pace::at_once,
                 "220 mail.example.com ESMTP\r\n");
  const Unavailable down = down_from(peer, {});
  EXPECT_EQ(down.error.code, Code::unreachable);
  EXPECT_THAT(down.error.message, HasSubstr("does not follow the Redis protocol"));
}

TEST(RedisLogin, ReportsAPortWithoutTls) {
  RedisPeer peer([](const auto&) { return RedisPeer::kHangUp; }, RedisPeer::Pace::at_once,
                 "-ERR Protocol error: unbalanced quotes in request\r\n");
  StoreSpec spec = spec_of("rediss://127.0.0.1:" + std::to_string(peer.port()));
  spec.tls_skip_verify = true;
  RedisProgram run(spec);
  const auto reply = run(run.hasty_acquire(Millis(2'000)));
  ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(unavailable_in(reply)->error.code, Code::tls) << reply_text(reply);
  EXPECT_THAT(unavailable_in(reply)->error.message, HasSubstr("does not use TLS"));
}

// ---- invalid answers ----

TEST(RedisAnswers, AreCompleteWhenTheyArriveInParts) {
  const std::string granted =
      "*5\r\n$7\r\ngranted\r\n$16\r\n1800000000000000\r\n$1\r\n0\r\n$16\r\n1800000000000000\r\n$"
      "1\r\n0\r\n";
  RedisPeer peer(RedisPeer::to_eval(granted), RedisPeer::Pace::byte_by_byte);
  RedisProgram run(spec_of(peer.url()));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_EQ(granted_in(reply)->fence, 1'800'000'000'000'000u);
}

TEST(RedisAnswers, AreRefusedWhenTheyAreTooLarge) {
  for (const std::string& answer :
       {std::string("*100001\r\n"), std::string("*2000000000\r\n"),
        "$2000000\r\n" + std::string(2'000'000, 'x') + "\r\n", std::string("*50000\r\n*50001\r\n"),
        std::string("*-2\r\n*1\r\n")}) {
    RedisPeer peer(RedisPeer::to_eval(answer));
    const Unavailable down = down_from(peer, {});
    EXPECT_EQ(down.error.code, Code::unreachable) << down.error.message;
    EXPECT_FALSE(down.unsent);
  }
}

TEST(RedisAnswers, OfTheWrongTypeAreNotGrants) {
  for (const std::string answer : {"+OK\r\n", ":1\r\n", "$-1\r\n", "*0\r\n",
                                   "*1\r\n$7\r\ngranted\r\n", "*1\r\n*1\r\n*1\r\n+x\r\n"}) {
    RedisPeer peer(RedisPeer::to_eval(answer));
    RedisProgram run(spec_of(peer.url()));
    const auto reply = run(run.hasty_acquire());
    EXPECT_NE(unavailable_in(reply), nullptr) << answer << reply_text(reply);
  }
}

TEST(RedisAnswers, WithoutACommandEndTheConnection) {
  RedisPeer peer([](const RedisPeer::Command& command) {
    return RedisPeer::usual(command) + (command[0] == "TIME" ? "+surprise\r\n" : "");
  });
  const Unavailable down = down_from(peer, {});
  EXPECT_THAT(down.error.message, HasSubstr("a reply without a command"));
}

}  // namespace
}  // namespace cronlatch::testing
