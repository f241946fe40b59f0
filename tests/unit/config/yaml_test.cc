// SPDX-License-Identifier: Apache-2.0
#include "config/yaml.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

Error refusal(const std::string& text) {
  const auto settings = yaml_settings("/c.yaml", text);
  return settings.ok() ? Error{Code::bug, "accepted"} : settings.error();
}

TEST(Yaml, GivesItsOptionsWithTheirLines) {
  const auto settings = yaml_settings(
      "/c.yaml", "# a comment\nttl: 5m\n\n'on-busy': \"wait\"\ntls-skip-verify: true\n");
  ASSERT_TRUE(settings.ok());
  ASSERT_EQ(settings->size(), 3U);
  EXPECT_EQ((*settings)[0].option->key, "ttl");
  EXPECT_EQ((*settings)[0].text, "5m");
  EXPECT_EQ((*settings)[0].origin, "/c.yaml:2");
  EXPECT_EQ((*settings)[0].where, "/c.yaml:2: ttl");
  EXPECT_EQ((*settings)[1].text, "wait");
  EXPECT_EQ((*settings)[1].origin, "/c.yaml:4");
  EXPECT_EQ((*settings)[2].text, "true");
}

TEST(Yaml, TakesAListForSkipCommand) {
  for (const char* text :
       {"skip-command: [sh, -c, 'echo \"x\"']", "skip-command:\n- sh\n- -c\n- echo \"x\"\n",
        R"(skip-command: '["sh","-c","echo \"x\""]')"}) {
    const auto settings = yaml_settings("/c.yaml", text);
    ASSERT_TRUE(settings.ok()) << text;
    EXPECT_EQ(settings->front().text, R"(["sh","-c","echo \"x\""])") << text;
  }
}

TEST(Yaml, MayBeEmpty) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) {
    const auto settings = yaml_settings("/c.yaml", text);
    ASSERT_TRUE(settings.ok()) << text;
    EXPECT_TRUE(settings->empty()) << text;
  }
}

TEST(Yaml, NamesTheNearestOfAnUnknownKey) {
  EXPECT_EQ(refusal("ttl: 5m\non-bsuy: wait\n"),
            (Error{Code::usage, "/c.yaml:2: unknown key \"on-bsuy\"", "did you mean on-busy?"}));
  EXPECT_EQ(refusal("permits: 2").message, "/c.yaml:1: unknown key \"permits\"");
  EXPECT_EQ(refusal("password: hunter2").message.find("hunter2"), std::string::npos);
}

TEST(Yaml, RefusesOptionsThatAFileCannotContain) {
  EXPECT_EQ(refusal("config: /x"), (Error{Code::usage, "/c.yaml:1: config cannot be set in a file",
                                          "use the flag --config"}));
  EXPECT_EQ(refusal("isolated: true").code, Code::usage);
}

TEST(Yaml, RefusesInvalidShapes) {
  EXPECT_EQ(refusal("ttl: 5m\nstore:\n  url: redis://x\n").message, "/c.yaml:2: store is a map");
  EXPECT_EQ(refusal("ttl: [5m]").message, "/c.yaml:1: ttl is a list");
  EXPECT_EQ(refusal("ttl:\n").message, "/c.yaml:1: ttl has no value");
  EXPECT_EQ(refusal("ttl: ~\n").message, "/c.yaml:1: ttl has no value");
  EXPECT_EQ(refusal("skip-command: [[sh]]").message,
            "/c.yaml:1: skip-command must be a list of strings");
  EXPECT_EQ(refusal("skip-command: {a: b}").message, "/c.yaml:1: skip-command is a map");
  EXPECT_EQ(refusal("- ttl\n").message, "/c.yaml:1: the file is not a map of options");
  EXPECT_EQ(refusal("just text").message, "/c.yaml:1: the file is not a map of options");
  EXPECT_EQ(refusal("? [a, b]\n: c\n").message, "/c.yaml:1: a key must be a string");
  EXPECT_EQ(refusal("ttl: 5m\n---\nttl: 6m\n").message,
            "/c.yaml:3: the file contains more than one document");
  for (const char* text : {"store: {a: b}", "ttl: [5m]", "- a", "a\nb: c"})
    EXPECT_EQ(refusal(text).code, Code::config) << text;
}

TEST(Yaml, RefusesAKeyTwice) {
  EXPECT_EQ(refusal("ttl: 5m\nlock: a\nttl: 5m\n"),
            (Error{Code::config, "/c.yaml:3: ttl: the key is also at /c.yaml:1",
                   "remove one of the two"}));
}

TEST(Yaml, NamesThePlaceOfAParseError) {
  for (const char* text : {"ttl: [5m", "ttl: \"5m", "\tttl: 5m", "a: b: c", "ttl: *nowhere",
                           "%YAML 9.9\n---\nttl: 5m", "ttl: !!", "{", "\"\\xZZ\": 1"}) {
    const Error error = refusal(text);
    EXPECT_EQ(error.code == Code::config || error.code == Code::usage, true) << text;
    EXPECT_TRUE(error.message.starts_with("/c.yaml")) << text << " -> " << error.message;
  }
  EXPECT_EQ(refusal("ttl: 5m\nlock: \"a").code, Code::config);
}

// Found by fuzzing: a document without a token is followed by another one, for ever.
TEST(Yaml, EndsForAFileThatBeginsWithAComma) { EXPECT_EQ(refusal(",ock: {}").code, Code::config); }

TEST(Yaml, SurvivesDeepNesting) {
  EXPECT_EQ(refusal(std::string(100'000, '[')).code, Code::config);
}

}  // namespace
}  // namespace cronlatch
