// SPDX-License-Identifier: Apache-2.0
// An answer that arrives twice, the second time after the next request was sent. It must not be
// taken for the answer to that request, nor shift the answers after it.
#include "contract/redis_support.h"
#include "support/redis_peer.h"

namespace cronlatch::testing {
namespace {

constexpr Fence kFence = 1'763'690'000'000'000;

std::string array(const std::vector<std::string>& texts) {
  std::string bytes = "*" + std::to_string(texts.size()) + "\r\n";
  for (const std::string& text : texts)
    bytes += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  return bytes;
}

// Answers the n-th EVAL or EVALSHA of all connections with the n-th text.
RedisPeer::Script evals(std::vector<std::string> answers) {
  return [answers = std::move(answers), n = std::size_t{0}](const auto& command) mutable {
    if (!command[0].starts_with("EVAL")) return RedisPeer::usual(command);
    return n < answers.size() ? answers[n++] : RedisPeer::kSilence;
  };
}

std::string kept(Fence us) { return array({"kept", std::to_string(kFence + us), "0", "0"}); }
std::string granted(Fence us) {
  return array({"granted", std::to_string(kFence + us), "0", std::to_string(kFence), "0"});
}

TEST(RedisPairing, OfARepeatedTimeEndsTheConnection) {
  // Given the time again instead of the answer to the first acquire, which comes late
  RedisPeer peer(evals({RedisPeer::usual({"TIME"}), granted(1)}));
  RedisProgram run(spec_of(peer.url()));
  // When
  const auto first = run(run.program.acquire());
  const auto second = run(run.program.acquire());
  // Then the late answer cannot be taken for that to the second acquire
  EXPECT_FALSE(unavailable_of(first).unsent);
  EXPECT_TRUE(unavailable_of(first).transient);
  EXPECT_NE(granted_in(second), nullptr) << reply_text(second);
  EXPECT_EQ(peer.connections(), 2);
}

TEST(RedisPairing, OfARepeatedRenewalIsNotARenewal) {
  // Given
  RedisPeer peer(evals({kept(1), kept(1), kept(3)}));
  RedisProgram run(spec_of(peer.url()));
  // When
  const auto first = run(run.program.renew(kFence));
  const auto second = run(run.program.renew(kFence));
  const auto third = run(run.program.renew(kFence));
  // Then
  EXPECT_TRUE(first && std::holds_alternative<Renewed>(*first)) << reply_text(first);
  expect_unavailable(second, {Code::unreachable, true, "arrived twice"});
  EXPECT_FALSE(unavailable_of(second).unsent);
  EXPECT_TRUE(third && std::holds_alternative<Renewed>(*third)) << reply_text(third);
  EXPECT_EQ(peer.connections(), 2);
}

TEST(RedisPairing, OfARepeatedNoscriptLeavesTheResultUnknown) {
  // Given
  const std::string noscript = "-NOSCRIPT No matching script.\r\n";
  RedisPeer peer(evals({noscript, noscript, granted(1)}));
  RedisProgram run(spec_of(peer.url()));
  // When
  const auto first = run(run.program.acquire());
  const auto second = run(run.program.acquire());
  // Then: the text of the script may have been executed
  EXPECT_FALSE(unavailable_of(first).unsent);
  EXPECT_NE(granted_in(second), nullptr) << reply_text(second);
  EXPECT_EQ(peer.connections(), 2);
}

// Reads are sent in one batch, and a repeated answer would be taken for that to the next read.
class RedisPairingOfReads : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string answer_to(const RedisPeer::Command& command) {
    if (command[0] == "ZRANGE") return array({"a", "b"});
    if (command[0] != "HGETALL") return RedisPeer::usual(command);
    if (command[1].ends_with(":stats")) return array({"acquired|", "7", "released|", "7"});
    return array({"state", "free", "owner",    "aa", "holder",  "h", "job",   "",
                  "group", "",     "once",     "",   "attempt", "1", "fence", "9",
                  "stole", "0",    "acquired", "9",  "expires", "0", "ttl",   "9",
                  "born",  "9",    "day",      "0",  "slots",   "1"});
  }
  // The first command with the parameter's name is answered twice. The answer to the last read is
  // sent after the next command only, so that it cannot arrive with the others.
  static RedisPeer::Script repeating(const std::string& last) {
    return [repeated = std::string(GetParam()), last, seen = std::map<std::string, int>(),
            held = std::string()](const RedisPeer::Command& command) mutable {
      std::string answer = held + answer_to(command);
      held.clear();
      // The first TIME belongs to the login.
      const int number = command[0] == "TIME" ? 2 : 1;
      if (command[0] == repeated && ++seen[command[0]] == number) answer += answer_to(command);
      if (command[0] != "HGETALL" || !command[1].ends_with("{" + last + "}:stats")) return answer;
      held = answer;
      return RedisPeer::kSilence;
    };
  }
};

TEST_P(RedisPairingOfReads, EndsTheListWithAnError) {
  RedisPeer peer(repeating("b"));
  const auto store = open_store(spec_of(peer.url()));
  ASSERT_TRUE(store.ok());
  const auto locks = (*store)->list(boot_now() + kPatience, 10);
  ASSERT_FALSE(locks.ok()) << "a list of " << locks->size();
  EXPECT_EQ(locks.error().code, Code::unreachable);
}

TEST_P(RedisPairingOfReads, EndsTheViewOfALockWithAnError) {
  RedisPeer peer(repeating("a"));
  const auto store = open_store(spec_of(peer.url()));
  ASSERT_TRUE(store.ok());
  const auto lock = (*store)->show("a", boot_now() + kPatience);
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, Code::unreachable);
}

INSTANTIATE_TEST_SUITE_P(Of, RedisPairingOfReads, ::testing::Values("TIME", "HGETALL"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace cronlatch::testing
