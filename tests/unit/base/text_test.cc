// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include "support/json_check.h"

namespace cronlatch {
namespace {

TEST(Text, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\r\t\x01\x7f"), R"("a\"b\\c\n\r\t\u0001\u007f")");
  EXPECT_EQ(json_quoted("grün €"), "\"grün €\"");
  EXPECT_EQ(json_escaped(std::string_view("a\0b", 3)), "a\\u0000b");
}

TEST(Text, ReplacesBytesThatAreNoUtf8) {
  // given: a stray continuation, an overlong slash, a surrogate, a cut character, a byte that never
  // occurs
  for (const std::string bad : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xE2\x82", "\xFF",
                                "\xF4\x90\x80\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80"}) {
    // when
    const std::string shown = json_escaped("a" + bad + "b");
    // then
    EXPECT_TRUE(is_utf8(shown));
    EXPECT_NE(shown.find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_TRUE(shown.starts_with('a') && shown.ends_with('b'));
  }
}

TEST(Text, ShortensJsonBetweenCharacters) {
  const std::string text = std::string(10, 'x') + "\n€\x01" + std::string(50, 'y');
  for (std::size_t room = 0; room < 90; ++room) {
    const std::string cut = json_shortened(text, room);
    EXPECT_LE(cut.size(), room);
    EXPECT_TRUE(is_utf8(cut));
    EXPECT_TRUE(flat_json("{\"k\":\"" + cut + "\"}").has_value()) << cut;
    const bool whole = cut == json_escaped(text);
    EXPECT_EQ(whole, room >= json_escaped(text).size());
    EXPECT_TRUE(whole || room < 3 || cut.ends_with("...")) << cut;
  }
}

TEST(Text, PrintsControlCharactersAsEscapes) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("grün"), "grün");
  EXPECT_EQ(printable("\xC2\x9B\xFF"), "\\xc2\\x9b\\xff");
}

TEST(Text, CutsWhatItQuotes) {
  EXPECT_EQ(cronlatch::quoted("short"), "\"short\"");
  EXPECT_EQ(cronlatch::quoted(std::string(1'000, 'x')).size(), 85U);
}

TEST(Text, IsTrimmedAtBothEnds) {
  EXPECT_EQ(trimmed(" a b\t\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed("a\n", " \t"), "a\n");
}

TEST(Text, CountsTypingErrors) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("on-busy", "on-busy"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("on-bsuy", "on-busy"), 1U);  // neighbors swapped
  EXPECT_EQ(edit_distance("lok", "lock"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Text, ReadsJsonArraysOfStrings) {
  const auto strings =
      parse_json_strings(R"( [ "sh" , "-c","a\"\\\/\n\u0041\u20ac\ud83d\ude00" ] )");
  ASSERT_TRUE(strings.ok());
  EXPECT_EQ(*strings, (std::vector<std::string>{"sh", "-c", "a\"\\/\nA€😀"}));
  EXPECT_TRUE(parse_json_strings("[]").ok());
}

TEST(Text, RefusesWhatIsNoJsonArrayOfStrings) {
  for (const char* bad : {"",
                          "sh",
                          "[",
                          "]",
                          "[\"a\"",
                          "[\"a\",]",
                          "[,\"a\"]",
                          "[\"a\" \"b\"]",
                          "[1]",
                          "[null]",
                          "[[\"a\"]]",
                          "['a']",
                          "[\"a]",
                          "[\"\\x\"]",
                          "[\"\\u12\"]",
                          "[\"\\ud800\"]",
                          "[\"\\ud800\\u0041\"]",
                          "[\"\\udc00\"]",
                          "[\"a\nb\"]",
                          "[\"a\"] x",
                          "[\"\\",
                          "[\"\\u"})
    EXPECT_FALSE(parse_json_strings(bad).ok()) << bad;
}

TEST(Text, ShowsJsonArraysThatReadBack) {
  const std::vector<std::string> strings = {"sh", "-c", "echo \"a\\b\"\n", "", "ü"};
  const auto again = parse_json_strings(show_json_strings(strings));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, strings);
}

}  // namespace
}  // namespace cronlatch
