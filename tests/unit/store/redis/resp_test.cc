// SPDX-License-Identifier: Apache-2.0
// The wire format: parts of any size give the same values, and every reply has limits.
#include "store/redis/resp.h"

#include <gtest/gtest.h>

#include "store/redis/errors.h"
#include "store/redis/pem.h"

namespace cronlatch::redis {
namespace {

using Type = Resp::Type;

const std::string kMixed =
    "+OK\r\n-ERR "
    "no\r\n:-42\r\n$5\r\na\r\nbc\r\n$-1\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n*0\r\n$-1\r\n*-1\r\n";

std::vector<Resp> read_in_slices(const std::string& bytes, std::size_t slice) {
  RespReader reader;
  std::vector<Resp> values;
  for (std::size_t at = 0; at < bytes.size(); at += slice) {
    reader.feed(std::string_view(bytes).substr(at, slice));
    while (auto value = reader.next()) values.push_back(std::move(*value));
  }
  EXPECT_EQ(reader.broken(), "");
  return values;
}

TEST(Resp, ReadsEveryKindOfValue) {
  const auto values = read_in_slices(kMixed, kMixed.size());
  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[0], (Resp{Type::status, "OK"}));
  EXPECT_EQ(values[1], (Resp{Type::error, "ERR no"}));
  EXPECT_EQ(values[2], (Resp{Type::integer, "", -42}));
  EXPECT_EQ(values[3], (Resp{Type::text, "a\r\nbc"}));
  EXPECT_EQ(values[4], Resp{});
  ASSERT_EQ(values[5].elements.size(), 3u);
  EXPECT_EQ(values[5].elements[1].elements[0], (Resp{Type::text, ""}));
  EXPECT_EQ(values[5].elements[1].elements[1].type, Type::array);
  EXPECT_EQ(values[6], Resp{});
}

TEST(Resp, AcceptsBytesInPartsOfAnySize) {
  const auto whole = read_in_slices(kMixed, kMixed.size());
  for (std::size_t slice = 1; slice < kMixed.size(); ++slice)
    EXPECT_EQ(read_in_slices(kMixed, slice), whole) << slice;
}

std::string trouble_with(const std::string& bytes) {
  RespReader reader;
  reader.feed(bytes);
  while (reader.next()) {
  }
  return reader.broken();
}

TEST(Resp, RefusesOtherProtocols) {
  for (const std::string bytes : {"HTTP/1.1 400\r\n", "\x15\x03\x01", ">2\r\n+a\r\n+b\r\n"})
    EXPECT_EQ(trouble_with(bytes), "the reply does not follow the Redis protocol") << bytes;
}

TEST(Resp, RefusesAReplyThatIsTooLarge) {
  const std::string too_large = "the reply is too large";
  EXPECT_EQ(trouble_with("*100001\r\n"), too_large);
  EXPECT_EQ(trouble_with("*2147483647\r\n"), too_large);
  EXPECT_EQ(trouble_with("*60000\r\n*60000\r\n"), too_large);
  EXPECT_EQ(trouble_with("$9000000\r\n" + std::string(kMaxReplyBytes, 'x')), too_large);
  EXPECT_EQ(trouble_with("+" + std::string(kMaxReplyBytes + 1, 'x')), too_large);
}

TEST(Resp, RefusesAReplyThatIsNestedTooDeep) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += "*1\r\n";
  EXPECT_NE(trouble_with(bytes), "");
}

TEST(Resp, LimitsApplyToEachReply) {
  const std::string big = "$600000\r\n" + std::string(600'000, 'x') + "\r\n";
  EXPECT_EQ(read_in_slices(big + big + big, 100'000).size(), 3u);
}

TEST(Resp, WritesCommandsWithTheirLengths) {
  EXPECT_EQ(encode_command({"SET", "a\r\n", ""}), "*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$0\r\n\r\n");
}

TEST(RedisErrorTable, HasOneRowForEachClassWithAMeaningAndAHint) {
  for (const RedisErrorRow& row : redis_error_table()) {
    EXPECT_EQ(&redis_error_row(row.kind), &row);
    EXPECT_NE(row.meaning, "");
    EXPECT_NE(row.hint, "");
    if (row.word.empty()) continue;
    EXPECT_EQ(&classify_redis_error(std::string(row.word) + " x"), &row);
  }
}

TEST(RedisErrorTable, ReadsOnlyWholeFirstWords) {
  EXPECT_EQ(classify_redis_error("ASKING is not a class").kind, RedisErrorClass::unknown);
  EXPECT_EQ(classify_redis_error("ERR the word OOM in passing").kind, RedisErrorClass::unknown);
  EXPECT_EQ(classify_redis_error("").kind, RedisErrorClass::unknown);
}

// The errors of Redis 6.2, 7.0 and 7.2 for a missing right, inside and outside of a script, and the
// text that the store appends.
TEST(RedisErrorTable, NamesTheRefusedCommandForEveryServerVersion) {
  for (const std::string text :
       {"NOPERM this user has no permissions to access one of the keys used as arguments",
        "NOPERM No permissions to access a key",
        "ERR The user executing the script can't run this command or subcommand",
        "ERR Error running script (call to f_1): @user_script:1: -NOPERM this user has no rights",
        "ACL failure in script: User jobs has no permissions to run the 'hset' command"}) {
    EXPECT_EQ(classify_redis_error(text).kind, RedisErrorClass::noperm) << text;
    const std::string named = with_refused_command(text, "EVALSHA", "cronlatch:{a}");
    EXPECT_EQ(named, text + " (EVALSHA on cronlatch:{a})");
    const Error error = redis_error(classify_redis_error(named), "host:6379", named);
    EXPECT_EQ(error.code, Code::acl);
    EXPECT_NE(error.message.find("EVALSHA on cronlatch:{a}"), std::string::npos) << error.message;
  }
  const std::string complete = "NOPERM this user may not run HSET on cronlatch:{a}";
  EXPECT_EQ(with_refused_command(complete, "EVALSHA", "cronlatch:{a}"), complete);
  EXPECT_EQ(with_refused_command("OOM full", "EVALSHA", "cronlatch:{a}"), "OOM full");
}

TEST(RedisErrorTable, NamesOnlyTheCommandThatTheServerDoesNotHave) {
  for (const std::string text :
       {"CRONLATCH_NO_COMMAND HSET", "ERR unknown command 'HSET'",
        "ERR unknown command `HSET`, with args beginning with: `secret`, ",
        "ERR unknown command 'HSET', with args beginning with: 'secret' "}) {
    const RedisErrorRow& row = classify_redis_error(text);
    EXPECT_EQ(row.code, Code::config) << text;
    EXPECT_FALSE(row.transient);
    EXPECT_TRUE(row.unexecuted);
    const Error error = redis_error(row, "host:6379", text);
    EXPECT_EQ(error.message, "redis at host:6379: the server does not have the command HSET");
    EXPECT_NE(error.hint.find("docs/operations.md"), std::string::npos);
  }
}

TEST(RedisErrorTable, QuotesOneLineOfLimitedLength) {
  EXPECT_EQ(quotable("a\r\n\x1b[31mb"), "a???[31mb");
  EXPECT_EQ(quotable(std::string(1'000, 'x')).size(), 803u);
}

TEST(Pem, SkipsOtherBlocks) {
  PemCertificates certificates(
      "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"
      "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\ntext between\n"
      "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n-----BEGIN "
      "CERTIFICATE-----\n");
  EXPECT_EQ(certificates.next(), "hello");
  EXPECT_EQ(certificates.next(), std::nullopt);
}

}  // namespace
}  // namespace cronlatch::redis
