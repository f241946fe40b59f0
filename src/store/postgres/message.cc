// SPDX-License-Identifier: Apache-2.0
// A message is its type, its length with itself, and its body. Numbers are big-endian.
#include "store/postgres/message.h"

#include <algorithm>

namespace cronlatch::postgres {
namespace {

constexpr std::uint32_t kSslRequestCode = 80'877'103;
constexpr std::uint32_t kProtocol3 = 3 << 16;
constexpr std::size_t kHeader = 5;  // type and length
constexpr std::uint32_t kNull = 0xFFFF'FFFF;

std::string big_endian(std::uint32_t n, std::size_t bytes) {
  std::string out;
  for (std::size_t i = bytes; i > 0; --i) out += static_cast<char>(n >> (8 * (i - 1)) & 0xFFU);
  return out;
}

std::string zero_ended(std::string_view text) { return std::string(text) + '\0'; }

std::string with_length(std::string_view body) {
  return big_endian(static_cast<std::uint32_t>(body.size() + 4), 4) + std::string(body);
}

std::string message(char type, std::string_view body) { return type + with_length(body); }

}  // namespace

std::optional<Message> MessageReader::next() {
  if (!broken_.empty()) return std::nullopt;
  const std::string_view rest = std::string_view(bytes_).substr(read_);
  if (rest.size() < kHeader) return std::nullopt;
  const std::size_t length = FieldReader(rest.substr(1)).number(4);
  if (length < 4 || length > kMaxMessageBytes) {
    broken_ = "a message with an invalid length";
    bytes_.clear();
    read_ = 0;
    return std::nullopt;
  }
  if (rest.size() < length + 1) {
    bytes_.erase(0, std::exchange(read_, 0));
    return std::nullopt;
  }
  Message found{rest[0], std::string(rest.substr(kHeader, length - 4))};
  read_ += length + 1;
  if (read_ == bytes_.size()) {
    bytes_.clear();
    read_ = 0;
  }
  return found;
}

std::uint32_t FieldReader::number(std::size_t size) {
  std::uint32_t n = 0;
  for (const char c : bytes(size)) n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

std::string_view FieldReader::text() {
  const std::size_t end = rest_.find('\0');
  if (end == std::string_view::npos) {
    fine_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return found;
}

std::string_view FieldReader::bytes(std::size_t size) {
  if (size > rest_.size()) {
    fine_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

std::optional<Row> parse_row(std::string_view body) {
  FieldReader fields(body);
  Row row(fields.number(2));
  for (auto& column : row) {
    const std::uint32_t size = fields.number(4);
    if (fields.fine() && size != kNull) column = fields.bytes(size);
    if (!fields.fine()) return std::nullopt;
  }
  if (!fields.complete()) return std::nullopt;
  return row;
}

std::optional<ServerMessage> parse_server_message(std::string_view body) {
  FieldReader fields(body);
  ServerMessage found;
  while (const std::uint32_t kind = fields.number(1)) {
    const std::string_view text = fields.text();
    // S is translated and V is not, but poolers send only S. V follows S.
    if (kind == 'S' || kind == 'V') found.severity = text;
    if (kind == 'C') found.state = text;
    if (kind == 'M') found.text = text;
  }
  if (!fields.complete() || found.state.size() != 5) return std::nullopt;
  return found;
}

std::string ssl_request() { return with_length(big_endian(kSslRequestCode, 4)); }

std::string startup(std::span<const std::pair<std::string_view, std::string_view>> parameters) {
  std::string body = big_endian(kProtocol3, 4);
  for (const auto& [name, value] : parameters) body += zero_ended(name) + zero_ended(value);
  return with_length(zero_ended(body));
}

std::string simple_query(std::string_view sql) { return message('Q', zero_ended(sql)); }

std::string call(std::string_view sql, std::span<const std::string> parameters) {
  // Parse: unnamed statement, no types given. The server finds them.
  const std::string parse = message('P', zero_ended("") + zero_ended(sql) + big_endian(0, 2));
  // Bind: unnamed portal and statement; parameters and results in text format.
  std::string bind = zero_ended("") + zero_ended("") + big_endian(0, 2) +
                     big_endian(static_cast<std::uint32_t>(parameters.size()), 2);
  for (const std::string& parameter : parameters)
    bind += big_endian(static_cast<std::uint32_t>(parameter.size()), 4) + parameter;
  bind += big_endian(0, 2);
  const std::string execute = message('E', zero_ended("") + big_endian(0, 4));
  return parse + message('B', bind) + execute + message('S', "");
}

std::string password(std::string_view text) { return message('p', zero_ended(text)); }

std::string sasl_initial(std::string_view mechanism, std::string_view data) {
  return message('p', zero_ended(mechanism) +
                          big_endian(static_cast<std::uint32_t>(data.size()), 4) +
                          std::string(data));
}

std::string sasl_response(std::string_view data) { return message('p', data); }

}  // namespace cronlatch::postgres
