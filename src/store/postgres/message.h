// SPDX-License-Identifier: Apache-2.0
// The messages of PostgreSQL's protocol 3.0 (the manual's chapter "Frontend/Backend Protocol"):
// from values to bytes, from bytes to values. Bytes of a server are untrusted: the length of a
// message is limited, and each field is checked. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cronlatch::postgres {

struct Message {
  char type = 0;
  std::string body{};  // without the length
  bool operator==(const Message&) const = default;
};

inline constexpr std::size_t kMaxMessageBytes = 1 << 20;

// Takes bytes in parts of any size and returns complete messages.
class MessageReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  // The next complete message; no value when more bytes are needed or the stream is invalid.
  std::optional<Message> next();
  // Why the stream is invalid; then the connection must be closed. Empty while it is valid.
  const std::string& broken() const { return broken_; }

 private:
  std::string bytes_;
  std::size_t read_ = 0;  // bytes of it that were returned
  std::string broken_;
};

// Reads the fields of one message. After the first invalid field every result is empty or zero.
class FieldReader {
 public:
  explicit FieldReader(std::string_view body) : rest_(body) {}
  std::uint32_t number(std::size_t bytes);  // big-endian, 1 to 4 bytes
  std::string_view text();                  // up to a zero byte
  std::string_view bytes(std::size_t size);
  std::string_view rest() const { return rest_; }
  bool fine() const { return fine_; }
  bool complete() const { return fine_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fine_ = true;
};

// The columns of a DataRow; no value is SQL's null.
using Row = std::vector<std::optional<std::string>>;
std::optional<Row> parse_row(std::string_view body);

// The fields of an ErrorResponse or a NoticeResponse that are used.
struct ServerMessage {
  std::string severity{};  // never translated: ERROR, FATAL, PANIC, WARNING, NOTICE, ...
  std::string state{};     // SQLSTATE, five characters
  std::string text{};
  bool operator==(const ServerMessage&) const = default;
};
std::optional<ServerMessage> parse_server_message(std::string_view body);

// ---- messages to the server ----
// Asks for TLS; the server answers with one byte.
std::string ssl_request();
std::string startup(std::span<const std::pair<std::string_view, std::string_view>> parameters);
std::string simple_query(std::string_view sql);
// One statement with parameters ($1, ...) in text format, and Sync: one ReadyForQuery follows.
std::string call(std::string_view sql, std::span<const std::string> parameters);
std::string password(std::string_view text);  // with its zero byte
std::string sasl_initial(std::string_view mechanism, std::string_view data);
std::string sasl_response(std::string_view data);

}  // namespace cronlatch::postgres
