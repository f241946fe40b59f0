// SPDX-License-Identifier: Apache-2.0
// Bad values: every message names the key, the value and what is allowed.
#include <gtest/gtest.h>

#include "core/lock_name.h"
#include "options/options.h"

namespace cronlatch {
namespace {

Error refusal(std::string_view key, std::string_view text) {
  Options options;
  const Options before = options;
  const Status set = set_option(options, *find_option(key), text);
  for (const Option& option : option_table())
    EXPECT_EQ(show_option(options, option), show_option(before, option))
        << "a refused value changed " << option.key;
  return set.ok() ? Error{Code::bug, "accepted"} : set.error();
}

TEST(OptionText, NamesTheLimitsOfADuration) {
  EXPECT_EQ(refusal("ttl", "4999ms"),
            (Error{Code::usage, "ttl: \"4999ms\" is out of range", "allowed is 5s to 1h"}));
  EXPECT_EQ(refusal("ttl", "3600001ms").message, "ttl: \"3600001ms\" is out of range");
  EXPECT_EQ(refusal("connect-timeout", "0").message, "connect-timeout: \"0\" is out of range");
  EXPECT_EQ(refusal("renew-every", "1ms").hint, "allowed is 200ms to 20m");
}

TEST(OptionText, TakesTheEndsOfARange) {
  Options options;
  EXPECT_TRUE(set_option(options, *find_option("ttl"), "5s").ok());
  EXPECT_TRUE(set_option(options, *find_option("ttl"), "1h").ok());
  EXPECT_TRUE(set_option(options, *find_option("exit-skipped"), "255").ok());
  EXPECT_EQ(options.exit_skipped, 255);
}

TEST(OptionText, NamesTheUnitThatIsMissing) {
  EXPECT_EQ(refusal("max-run", "90"),
            (Error{Code::usage, "max-run: \"90\" has no unit", "write it like 90s, 90m or 90h"}));
}

TEST(OptionText, NamesTheWordsOfAnEnumeration) {
  EXPECT_EQ(refusal("on-busy", "queue").message,
            "on-busy: \"queue\" is not one of skip, wait, fail");
}

TEST(OptionText, RefusesNumbersThatAreNoExitCode) {
  for (const char* bad : {"256", "-1", "1x", " 1", "0x1", "99999999999", "+1"})
    EXPECT_EQ(refusal("exit-skipped", bad).code, Code::usage) << bad;
}

TEST(OptionText, RefusesEmptyValues) {
  for (const Option& option : option_table())
    EXPECT_NE(refusal(option.key, "").message, "accepted") << option.key;
  EXPECT_EQ(refusal("job", "").message, "job: the value is empty");
}

TEST(OptionText, RefusesLongAndUnprintableText) {
  EXPECT_EQ(refusal("job", std::string(201, 'x')).message, "job: the value is 201 bytes long");
  EXPECT_EQ(refusal("holder", "a\nb").message,
            "holder: \"a\\nb\" has a control character at position 2");
  EXPECT_EQ(refusal("outcome-file", std::string_view("/a\0b", 4)).code, Code::usage);
  EXPECT_EQ(refusal("outcome-file", std::string(5'000, 'x')).code, Code::usage);
}

TEST(OptionText, RefusesTextThatIsNoUtf8WithItsPositionAndTheRule) {
  for (const char* key : {"job", "holder", "attempt-group", "once-per", "redis-username"}) {
    const Error error = refusal(key, "shop/a\xff");
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.message,
              std::string(key) + ": \"shop/a\\xff\" is not valid UTF-8 at position 7");
    EXPECT_EQ(error.hint, "allowed is 1 to 200 bytes of UTF-8 without control characters");
    EXPECT_NE(refusal(key, "\xC3").message, "accepted");
    EXPECT_NE(refusal(key, "a\xC2\x85").message, "accepted");  // a control character of two bytes
    Options options;
    EXPECT_TRUE(set_option(options, *find_option(key), "\xC3\xA9t\xC3\xA9").ok());
  }
  // A file's name may be of any bytes.
  Options options;
  EXPECT_TRUE(set_option(options, *find_option("outcome-file"), "/a\xff").ok());
}

TEST(OptionText, ReadsSkipCommandAsJson) {
  Options options;
  ASSERT_TRUE(
      set_option(options, *find_option("skip-command"), R"(["sh", "-c", "echo skipped"])").ok());
  EXPECT_EQ(options.skip_command, (std::vector<std::string>{"sh", "-c", "echo skipped"}));
  EXPECT_EQ(show_option(options, *find_option("skip-command")), R"(["sh","-c","echo skipped"])");
  for (const char* bad : {"echo", "[]", "[\"\"]", "[1]", "[\"a\\u0000\"]"})
    EXPECT_EQ(refusal("skip-command", bad).code, Code::usage) << bad;
}

TEST(OptionText, ReadsCommandsByArchitectureAsJson) {
  Options options;
  const Option& option = *find_option("command-by-arch");
  ASSERT_TRUE(set_option(options, option, R"( {"b": ["x\"", "y"] , "a":[]} )").ok());
  EXPECT_EQ(options.command_by_arch, (StringLists{{"a", {}}, {"b", {"x\"", "y"}}}));
  EXPECT_EQ(show_option(options, option), R"({"a":[],"b":["x\"","y"]})");
  for (const char* bad : {"x", "[]", "{", "{}", R"({"a"})", R"({"a":1})", R"({"a":["x"]} y)",
                          R"({"a":["x"],})", R"({"a":[],"a":[]})", R"({"a":["\u0000"]})"})
    EXPECT_EQ(refusal("command-by-arch", bad).code, Code::usage) << bad;
}

TEST(OptionText, RefusesPrefixesThatWouldMoveKeys) {
  for (const char* bad : {"{a}", "a}", "a b", "\xC3\xBC"})
    EXPECT_EQ(refusal("key-prefix", bad).code, Code::usage) << bad;
  EXPECT_EQ(refusal("key-prefix", std::string(101, 'x')).code, Code::usage);
}

struct BadLock {
  std::string name, message;
};
class LockName : public ::testing::TestWithParam<BadLock> {};

TEST_P(LockName, IsRefusedWithCharacterAndPosition) {
  const Error error = refusal("lock", GetParam().name);
  EXPECT_EQ(error, (Error{Code::config, "lock: " + GetParam().message,
                          "use 1 to 200 characters: letters, digits, . _ - /"}));
}

INSTANTIATE_TEST_SUITE_P(
    Bad, LockName,
    ::testing::Values(
        BadLock{"", "the lock name is empty"},
        BadLock{"a{b}", "lock name \"a{b}\" contains \"{\" at position 2"},
        BadLock{"a}", "lock name \"a}\" contains \"}\" at position 2"},
        BadLock{"nightly report", "lock name \"nightly report\" contains a blank at position 8"},
        BadLock{"a\tb", "lock name \"a\\tb\" contains \"\\t\" at position 2"},
        BadLock{std::string("ab\0c", 4),
                "lock name \"ab\\x00c\" contains a NUL byte at position 3"},
        BadLock{"gr\xC3\xBCn", "lock name \"gr\xC3\xBCn\" contains \"\\xc3\" at position 3"},
        BadLock{"a:b", "lock name \"a:b\" contains \":\" at position 2"},
        BadLock{std::string(201, 'x'),
                R"(lock name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." is 201 characters long)"}));

TEST(LockNames, TakeEveryAllowedCharacterAndLength) {
  EXPECT_TRUE(check_lock_name("abcxyzABCXYZ0123456789._-/").ok());
  EXPECT_TRUE(check_lock_name("a").ok());
  EXPECT_TRUE(check_lock_name(std::string(200, 'x')).ok());
  for (int c = 0; c < 256; ++c) {
    const std::string one(1, static_cast<char>(c));
    const bool allowed =
        std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")
            .find(one) != std::string_view::npos;
    EXPECT_EQ(check_lock_name(one).ok(), allowed) << c;
  }
}

TEST(StoreUrl, IsRefusedWithAPasswordAndNeverShown) {
  for (const char* url : {"redis://user:hunter2@host", "redis://:hunter2@host:6379/1",
                          "rediss://u:p@ss:hunter2@host", "redis://h1,redis://u:hunter2@h2",
                          "postgres://u:hunter2@h/db", "redis://u:hun/ter2@host"}) {
    const Error error = refusal("store", url);
    EXPECT_EQ(error.code, Code::usage) << url;
    EXPECT_EQ(error.message,
              "store: the store's URL contains a password, which `ps` and logs would display");
    EXPECT_NE(error.hint.find("password-file"), std::string::npos);
    const std::string scheme(url, std::string_view(url).find("://"));
    EXPECT_EQ(error.hint.find("write " + scheme + "://user@host"), 0U) << error.hint;
  }
}

TEST(StoreUrl, IsTakenWithoutAPassword) {
  for (const char* url : {"redis://host", "redis://user@host:6379/1", "rediss://user@[::1]:6379",
                          "file:///tmp/a:b@c", "redis://u@h1:6379,redis://u@h2:6379,redis://u@h3"})
    EXPECT_TRUE(check_store_url(url).ok()) << url;
}

TEST(StoreUrl, IsRefusedWithBlanksOrWithoutScheme) {
  for (const char* url : {"redis://a b", "localhost", "redis://a\n"})
    EXPECT_EQ(refusal("store", url).code, Code::usage) << url;
}

}  // namespace
}  // namespace cronlatch
