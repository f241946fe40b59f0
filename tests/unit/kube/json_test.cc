// SPDX-License-Identifier: Apache-2.0
#include "kube/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

using ::testing::ElementsAre;

std::string refusal(const std::string& text, JsonLimits limits = {}) {
  const Result<Json> parsed = parse_json(text, limits);
  return parsed.ok() ? "accepted" : parsed.error().message;
}

TEST(ParseJson, ParsesEveryKindOfValue) {
  const std::string text =
      R"({"a":[1,-2,1.5,18446744073709551615,true,null,"x",{"b":{}},[]],"c":"é"})";
  const Result<Json> parsed = parse_json(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, Json::parse(text));
  EXPECT_EQ(to_text(*parsed), Json::parse(text).dump());
}

TEST(ParseJson, RejectsADuplicateKey) {
  EXPECT_EQ(refusal(R"({"a":1,"b":2,"a":3})"),
            R"(the key "a" appears twice in one object at byte 16)");
  EXPECT_EQ(refusal(R"([{"x":{"lock":1,"\u006cock":2}}])").substr(0, 40),
            R"(the key "lock" appears twice in one obje)");
  EXPECT_EQ(refusal(R"([{"a":1},{"a":1,"b":{"a":1}}])"), "accepted");
}

TEST(ParseJson, RejectsADeeperValueThanTheLimit) {
  EXPECT_EQ(refusal("[[[]]]", {.depth = 3}), "accepted");
  EXPECT_EQ(refusal(R"({"a":[{}]})", {.depth = 3}), "accepted");
  EXPECT_EQ(refusal("[[[[]]]]", {.depth = 3}), "nested deeper than 3 levels at byte 4");
  EXPECT_EQ(refusal(std::string(200'000, '[')), "nested deeper than 128 levels at byte 129");
}

TEST(ParseJson, RejectsALongerTextThanTheLimit) {
  EXPECT_EQ(refusal("[1]", {.bytes = 3}), "accepted");
  EXPECT_EQ(refusal("[1 ]", {.bytes = 3}), "the JSON is 4 bytes long");
}

TEST(ParseJson, RejectsInvalidJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "nul", "\"", "1 2", "{} {}", "'a'",
                           "[NaN]", "\"\xff\"", "\"\\ud800\"", "01", "1e999"})
    EXPECT_NE(refusal(text), "accepted") << text;
  EXPECT_EQ(refusal("[1,]").substr(0, 18), "invalid JSON near ");
}

// What parse_json passes of a text, each item with what is before the items, and then its value.
std::vector<std::string> passed(const std::string& text) {
  std::vector<std::string> out;
  const Result<Json> parsed = parse_json(text, {}, [&](const Json& list, const Json& item) {
    out.push_back(to_text(item) + " of " + string_at(list, {"metadata", "version"}));
  });
  out.push_back(parsed ? to_text(*parsed) : parsed.error().message.substr(0, 12));
  return out;
}

TEST(ParseJson, PassesTheItemsOfAList) {
  EXPECT_THAT(
      passed(R"({"metadata":{"version":"7"},"items":[{"a":[{"items":[{}]}]},{"b":1}],"z":{}})"),
      ElementsAre(R"({"a":[{"items":[{}]}]} of 7)", R"({"b":1} of 7)",
                  R"({"items":[],"metadata":{"version":"7"},"z":{}})"));
  EXPECT_THAT(passed(R"({"items":[{}],"metadata":{"version":"7"}})"),
              ElementsAre("{} of ", R"({"items":[],"metadata":{"version":"7"}})"));
}

TEST(ParseJson, PassesNoItemsOfOtherArrays) {
  for (const char* text : {R"({"items":{"a":[{"b":1}]},"other":[{}]})", R"([[{"items":[{}]}]])",
                           R"({"a":{"items":[{}]}})", R"({"items":[]})"})
    EXPECT_THAT(passed(text), ElementsAre(text));
}

TEST(ParseJson, PassesTheItemsBeforeAnError) {
  EXPECT_THAT(passed(R"({"items":[{"a":1},{"b":}]})"),
              ElementsAre(R"({"a":1} of )", "invalid JSON"));
}

TEST(Find, FollowsKeysOnly) {
  const Json root = {{"a", {{"b", "x"}}}, {"list", Json::array({1})}, {"n", 1}};
  ASSERT_NE(find(root, {"a", "b"}), nullptr);
  EXPECT_EQ(find(root, {}), &root);
  for (const auto& path : {std::vector<std::string_view>{"a", "c"}, {"n", "b"}, {"list", "0"}})
    EXPECT_EQ(path.size() == 2 ? find(root, {path[0], path[1]}) : nullptr, nullptr);
  EXPECT_EQ(string_at(root, {"a", "b"}), "x");
  EXPECT_EQ(string_at(root, {"n"}), "");
  EXPECT_EQ(string_at(root, {"a", "c"}), "");
}

TEST(ToText, ReplacesInvalidUtf8) {
  EXPECT_EQ(to_text(Json("a\xff"
                         "b")),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

}  // namespace
}  // namespace cronlatch::kube
