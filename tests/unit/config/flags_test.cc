// SPDX-License-Identifier: Apache-2.0
#include "config/flags.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using Args = std::vector<std::string>;
constexpr ExtraFlag kExtras[] = {{"-o", "table|json"}, {"--force"}};

Error refusal(const Args& args, Operands operands = Operands::command) {
  const Result<Flags> flags = parse_flags(args, operands, kExtras);
  return flags.ok() ? Error{Code::bug, "accepted"} : flags.error();
}

TEST(Flags, TakeValuesBehindABlankOrAnEqualsSign) {
  const Args args = {"--ttl", "5m", "--lock=a=b", "--", "sh", "-c", "--ttl"};
  const Result<Flags> flags = parse_flags(args, Operands::command, {});
  ASSERT_TRUE(flags.ok());
  ASSERT_EQ(flags->settings.size(), 2U);
  EXPECT_EQ(flags->settings[0].option->key, "ttl");
  EXPECT_EQ(flags->settings[0].text, "5m");
  EXPECT_EQ(flags->settings[0].origin, "flag");
  EXPECT_EQ(flags->settings[0].where, "--ttl");
  EXPECT_EQ(flags->settings[1].text, "a=b");
  EXPECT_EQ(flags->operands, (Args{"sh", "-c", "--ttl"}));
}

TEST(Flags, TakeSwitchesWithoutAValue) {
  const Result<Flags> flags = parse_flags(
      Args{"--isolated", "--tls-skip-verify=false", "--", "true"}, Operands::command, {});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->settings[0].text, "true");
  EXPECT_EQ(flags->settings[1].text, "false");
  EXPECT_EQ(flags->operands, Args{"true"});
}

TEST(Flags, KeepEverythingBehindTheFirstDoubleDash) {
  const Result<Flags> flags = parse_flags(Args{"--", "env", "--", "x", ""}, Operands::command, {});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->operands, (Args{"env", "--", "x", ""}));
}

TEST(Flags, NameTheNearestOfAnUnknownOne) {
  EXPECT_EQ(refusal({"--on-bsuy", "wait"}),
            (Error{Code::usage, "unknown flag --on-bsuy", "did you mean --on-busy?"}));
  EXPECT_EQ(refusal({"--On_Busy=wait"}).hint, "did you mean --on-busy?");
  EXPECT_EQ(refusal({"-ttl", "5m"}).hint, "did you mean --ttl?");
  EXPECT_EQ(refusal({"--frobnicate"}).hint, "`cronlatch config` lists all options");
  EXPECT_EQ(refusal({"-x"}).message, "unknown flag -x");
  EXPECT_EQ(refusal({"---"}).message, "unknown flag ---");
  EXPECT_EQ(refusal({"--=x"}).message, "unknown flag --");
}

TEST(Flags, RefuseOptionsThatDoNotWorkYet) {
  EXPECT_EQ(refusal({"--permits", "2", "--", "x"}).message, "unknown flag --permits");
}

TEST(Flags, NeverTakeOrShowAPassword) {
  for (const char* flag : {"--password=hunter2", "--redis-password=hunter2", "--pasword=hunter2"}) {
    const Error error = refusal({flag, "--", "x"});
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ((error.message + error.hint).find("hunter2"), std::string::npos);
  }
  EXPECT_NE(refusal({"--password", "x"}).hint.find("CRONLATCH_PASSWORD"), std::string::npos);
}

TEST(Flags, RefuseTheSameTwice) {
  EXPECT_EQ(refusal({"--ttl", "5m", "--ttl=5m", "--", "x"}),
            (Error{Code::usage, "--ttl is given twice", "remove one of the two"}));
  EXPECT_EQ(refusal({"--force", "--force", "a"}, Operands::name).message, "--force is given twice");
}

TEST(Flags, RefuseAMissingValue) {
  EXPECT_EQ(refusal({"--ttl"}), (Error{Code::usage, "--ttl needs a value", "write --ttl=VALUE"}));
  EXPECT_EQ(refusal({"--lock", "--", "x"}).message, "--lock needs a value");
  EXPECT_EQ(refusal({"--lock", "--ttl", "5m"}).message, "--lock needs a value");
  EXPECT_EQ(refusal({"-o"}, Operands::nothing),
            (Error{Code::usage, "-o needs a value", "write -o VALUE"}));
}

TEST(Flags, RefuseARunWithoutACommand) {
  for (const Args& args : {Args{}, Args{"--ttl", "5m"}, Args{"--"}, Args{"--", ""}}) {
    EXPECT_EQ(refusal(args).message, "no command is given");
    EXPECT_EQ(refusal(args).code, Code::usage);
  }
  EXPECT_TRUE(parse_flags(Args{}, Operands::optional_command, {}).ok());
}

TEST(Flags, RefuseACommandWithoutDoubleDash) {
  EXPECT_EQ(refusal({"sh", "-c", "true"}),
            (Error{Code::usage, "unexpected word \"sh\"", "put -- before the command"}));
}

TEST(Flags, ContainTheValueOfASwitchBehindAnEqualsSignOnly) {
  EXPECT_EQ(refusal({"--strict", "false", "--", "true"}).hint,
            "write --strict=true or =false if it is a value; put -- before the command");
  EXPECT_TRUE(parse_flags(Args{"--strict=false", "--", "true"}, Operands::command, {}).ok());
}

TEST(Flags, TakeTheFlagsOfASubcommandAndOneName) {
  const Result<Flags> flags =
      parse_flags(Args{"reports/nightly", "--force", "-o", "json"}, Operands::name, kExtras);
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->operands, Args{"reports/nightly"});
  EXPECT_EQ(flags->extras.at("-o"), "json");
  EXPECT_EQ(flags->extras.count("--force"), 1U);
  EXPECT_EQ(refusal({"a", "b"}, Operands::name).message, "unexpected word \"b\"");
  EXPECT_EQ(refusal({}, Operands::name).message, "the name of the lock is missing");
  EXPECT_EQ(refusal({"--force=yes", "a"}, Operands::name).message, "--force takes no value");
  EXPECT_EQ(refusal({"a"}, Operands::nothing).message, "unexpected word \"a\"");
  EXPECT_EQ(refusal({"--", "a"}, Operands::nothing).message, "unexpected word \"a\"");
}

TEST(Flags, OfOneLetterMayHaveTheirValueInTheSameWord) {
  for (const char* word : {"-ojson", "-o=json"}) {
    const Result<Flags> flags = parse_flags(Args{word}, Operands::nothing, kExtras);
    ASSERT_TRUE(flags.ok()) << word;
    EXPECT_EQ(flags->extras.at("-o"), "json");
  }
  EXPECT_EQ(refusal({"-ojson", "-o", "table"}, Operands::nothing).message, "-o is given twice");
  EXPECT_EQ(refusal({"-xjson"}, Operands::nothing).message, "unknown flag -xjson");
  EXPECT_EQ(refusal({"-lock"}, Operands::nothing).hint, "did you mean --lock?");
}

}  // namespace
}  // namespace cronlatch
