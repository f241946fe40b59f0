// SPDX-License-Identifier: Apache-2.0
#include "support/resp_frames.h"

#include <cstdlib>

namespace cronlatch::testing {
namespace {

constexpr std::size_t kMissing = std::string::npos;

// The position after the CRLF of the line that starts at `at`.
std::size_t end_of_line(const std::string& bytes, std::size_t at) {
  const std::size_t end = bytes.find("\r\n", at);
  return end == kMissing ? kMissing : end + 2;
}

// The end of the value that starts at `at`.
std::size_t end_of_value(const std::string& bytes, std::size_t at) {
  const std::size_t line = at < bytes.size() ? end_of_line(bytes, at) : kMissing;
  if (line == kMissing) return kMissing;
  const char type = bytes[at];
  if (type != '$' && type != '*') return line;
  const long size = std::atol(bytes.c_str() + at + 1);
  if (size < 0) return line;  // nil
  std::size_t end = line;
  if (type == '$') {
    end += static_cast<std::size_t>(size) + 2;
    return end <= bytes.size() ? end : kMissing;
  }
  for (long i = 0; i < size && end != kMissing; ++i) end = end_of_value(bytes, end);
  return end;
}

}  // namespace

std::optional<std::string> take_frame(std::string& bytes) {
  const std::size_t end = end_of_value(bytes, 0);
  if (end == kMissing) return std::nullopt;
  std::string frame = bytes.substr(0, end);
  bytes.erase(0, end);
  return frame;
}

std::vector<std::string> words_of(const std::string& request) {
  std::vector<std::string> words;
  for (std::size_t at = end_of_line(request, 0); at < request.size();) {
    const std::size_t text = end_of_line(request, at);
    const auto size = static_cast<std::size_t>(std::atol(request.c_str() + at + 1));
    words.push_back(request.substr(text, size));
    at = text + size + 2;
  }
  return words;
}

}  // namespace cronlatch::testing
