// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using namespace std::string_literals;

TEST(Base64, EncodesTheExamplesOfTheRfc) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, DecodesWhatItEncoded) {
  for (const std::string& text : {""s, "a"s, "ab"s, "abc"s, "\xff\x00z"s, "a\0"s})
    EXPECT_EQ(decode_base64(encode_base64(text)), text);
}

TEST(Base64, OfUrlsHasAnotherAlphabetAndNoPadding) {
  EXPECT_EQ(encode_base64(".\xfb\xff"), "Lvv/");
  EXPECT_EQ(encode_base64url(".\xfb\xff"), "Lvv_");
  EXPECT_EQ(encode_base64("\xfb\xef"), "++8=");
  EXPECT_EQ(encode_base64url("\xfb\xef"), "--8");
}

TEST(Base64, SkipsWhiteSpace) { EXPECT_EQ(decode_base64("aGVs\r\n bG8="), "hello"); }

TEST(Base64, RefusesInvalidText) {
  for (const char* text : {"a", "ab", "abc", "%%%%", "a!==", "ab=c", "=", "===="})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cronlatch
