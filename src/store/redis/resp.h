// SPDX-License-Identifier: Apache-2.0
// The wire format of Redis (RESP2): commands to bytes, bytes to values. What a server sends is
// untrusted: size, number of elements and depth of one reply are bounded. Knows nothing of sockets
// or of what a reply means.
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

// Feed it what arrives, in any slices; take what is complete.
class RespReader {
 public:
  RespReader();
  ~RespReader();
  RespReader(const RespReader&) = delete;
  RespReader& operator=(const RespReader&) = delete;

  void feed(std::string_view bytes);
  // The next complete reply; nothing when more bytes are needed or the stream is broken.
  std::optional<Resp> next();
  // Why the stream cannot be read any further; the connection must be dropped. Empty while all is
  // well.
  const std::string& broken() const { return broken_; }

 private:
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  std::size_t elements_ = 0;  // of the reply that is being read
  std::size_t fed_ = 0;       // bytes of the reply that is being read, and after
  std::string broken_;
};

}  // namespace cronlatch::redis
