// SPDX-License-Identifier: Apache-2.0
// The wire format: parts of any size give the same messages; lengths and fields of a server are
// checked.
#include "store/postgres/message.h"

#include <gtest/gtest.h>

namespace cronlatch::postgres {
namespace {

std::string number(std::uint32_t n, int bytes = 4) {
  std::string out;
  for (int i = bytes; i > 0; --i) out += static_cast<char>(n >> (8 * (i - 1)));
  return out;
}

std::string framed(char type, const std::string& body) {
  return type + number(static_cast<std::uint32_t>(body.size()) + 4) + body;
}

const std::string kStream =
    framed('Z', "I") + framed('1', "") + framed('C', std::string("BEGIN\0", 6));

std::vector<Message> read_in_slices(const std::string& bytes, std::size_t slice) {
  MessageReader reader;
  std::vector<Message> found;
  for (std::size_t at = 0; at < bytes.size(); at += slice) {
    reader.feed(std::string_view(bytes).substr(at, slice));
    while (auto message = reader.next()) found.push_back(std::move(*message));
  }
  EXPECT_EQ(reader.broken(), "");
  return found;
}

TEST(MessageReader, ReturnsCompleteMessages) {
  const auto messages = read_in_slices(kStream, kStream.size());
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0], (Message{'Z', "I"}));
  EXPECT_EQ(messages[1], (Message{'1', ""}));
  EXPECT_EQ(messages[2].body, std::string("BEGIN\0", 6));
}

TEST(MessageReader, AcceptsBytesInPartsOfAnySize) {
  for (std::size_t slice = 1; slice < kStream.size(); ++slice)
    EXPECT_EQ(read_in_slices(kStream, slice), read_in_slices(kStream, kStream.size())) << slice;
}

TEST(MessageReader, WaitsForTheRestOfAMessage) {
  for (std::size_t size = 0; size < 6; ++size) {
    MessageReader reader;
    reader.feed(kStream.substr(0, size));
    EXPECT_FALSE(reader.next()) << size;
    EXPECT_EQ(reader.broken(), "") << size;
  }
}

TEST(MessageReader, RefusesInvalidLengthsForEver) {
  for (const std::uint32_t length : {0U, 3U, 1U << 21, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    MessageReader reader;
    reader.feed('D' + number(length) + "rest");
    EXPECT_FALSE(reader.next()) << length;
    EXPECT_NE(reader.broken(), "") << length;
    reader.feed(kStream);
    EXPECT_FALSE(reader.next()) << length;
  }
}

TEST(ParseRow, ReadsValuesAndNulls) {
  const auto row = parse_row(number(3, 2) + number(2) + "ab" + number(0xFFFF'FFFF) + number(0));
  ASSERT_TRUE(row);
  EXPECT_EQ(*row, (Row{"ab", std::nullopt, ""}));
}

TEST(ParseRow, RefusesInvalidFields) {
  EXPECT_FALSE(parse_row(""));
  EXPECT_FALSE(parse_row(number(1, 2)));
  EXPECT_FALSE(parse_row(number(1, 2) + number(3) + "ab"));
  EXPECT_FALSE(parse_row(number(1, 2) + number(0x7FFF'FFFF) + "ab"));
  EXPECT_FALSE(parse_row(number(0xFFFF, 2)));
  EXPECT_FALSE(parse_row(number(1, 2) + number(2) + "abc"));
}

TEST(ParseServerMessage, PrefersTheSeverityThatIsNotTranslated) {
  const std::string body("SFEHLER\0VERROR\0C42501\0Mno right\0Dmore\0\0", 39);
  const auto message = parse_server_message(body);
  ASSERT_TRUE(message);
  EXPECT_EQ(*message, (ServerMessage{"ERROR", "42501", "no right"}));
}

TEST(ParseServerMessage, RefusesInvalidFields) {
  EXPECT_FALSE(parse_server_message(""));
  EXPECT_FALSE(parse_server_message(std::string("C42501\0", 7)));
  EXPECT_FALSE(parse_server_message("C42501"));
  EXPECT_FALSE(parse_server_message(std::string("C425\0\0", 6)));
  EXPECT_FALSE(parse_server_message(std::string("C42501\0\0x", 9)));
}

TEST(Messages, HaveTheirLengths) {
  EXPECT_EQ(ssl_request(), number(8) + number(80'877'103));
  EXPECT_EQ(simple_query("SELECT 1"), framed('Q', std::string("SELECT 1\0", 9)));
  const std::vector<std::string> parameters{"a", ""};
  const std::string sent = call("SELECT $1, $2", parameters);
  const auto messages = read_in_slices(sent, sent.size());
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].type, 'P');
  EXPECT_EQ(messages[1].body, number(0, 2) + number(0, 2) + number(2, 2) + number(1) + "a" +
                                  number(0) + number(0, 2));
  EXPECT_EQ(messages[2].type, 'E');
  EXPECT_EQ(messages[3], (Message{'S', ""}));
}

}  // namespace
}  // namespace cronlatch::postgres
