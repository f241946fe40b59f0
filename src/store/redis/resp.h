// SPDX-License-Identifier: Apache-2.0
// The wire format of Redis (RESP2): from commands to bytes, from bytes to values. Bytes of a server
// are untrusted: size, number of elements and depth of one reply are limited. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace cronlatch::redis {

struct Resp {
  enum class Type { nil, status, error, text, integer, array };
  Type type = Type::nil;
  std::string text{};  // of status, error and text
  std::int64_t integer = 0;
  std::vector<Resp> elements{};  // of array
  bool operator==(const Resp&) const = default;
};

inline constexpr std::size_t kMaxReplyBytes = 1 << 20;
inline constexpr std::size_t kMaxReplyElements = 100'000;

std::string encode_command(const std::vector<std::string>& argv);

// Takes bytes in parts of any size and returns complete replies.
class RespReader {
 public:
  RespReader();
  ~RespReader();
  RespReader(const RespReader&) = delete;
  RespReader& operator=(const RespReader&) = delete;

  void feed(std::string_view bytes);
  // The next complete reply; no value when more bytes are needed or the stream is invalid.
  std::optional<Resp> next();
  // Why the stream is invalid; then the connection must be closed. Empty while the stream is valid.
  const std::string& broken() const { return broken_; }

 private:
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  std::size_t elements_ = 0;  // of the reply that is being read
  std::size_t fed_ = 0;       // bytes of the reply that is being read, and after
  std::string broken_;
};

}  // namespace cronlatch::redis
