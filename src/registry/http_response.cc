// SPDX-License-Identifier: Apache-2.0
#include "registry/http_response.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace cronlatch::registry {
namespace {

constexpr std::size_t kMaxHead = std::size_t{32} * 1024;
constexpr std::size_t kMaxBody = std::size_t{64} * 1024;  // a token has a few kilobytes

Error invalid(const char* what) {
  return {Code::unreachable, std::string("the response has ") + what};
}

constexpr std::string_view kBlanks = " \t";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::size_t> number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<bool> RegistryResponseReader::push(std::string_view bytes) {
  bytes_ += bytes;
  while (!has_head_) {
    const auto complete = read_head();
    if (!complete) return complete.error();
    if (*complete) continue;
    if (bytes.empty()) return invalid("no complete head");
    return false;
  }
  return read_body(bytes.empty());
}

// False: more bytes are needed.
Result<bool> RegistryResponseReader::read_head() {
  const std::size_t end = bytes_.find("\r\n\r\n");
  if (std::min(end, bytes_.size()) > kMaxHead) return invalid("a head that is too long");
  if (end == std::string::npos) return false;
  const std::string head = bytes_.substr(0, end + 2);
  bytes_.erase(0, end + 4);
  const std::size_t line_end = head.find("\r\n");
  const auto status =
      number(std::string_view(head).substr(std::min<std::size_t>(9, line_end), 3), 10);
  if (!head.starts_with("HTTP/1.") || !status || *status < 100 || *status > 599)
    return invalid("no HTTP status line");
  if (*status < 200) return true;  // 1xx: another head follows
  response_.status = static_cast<int>(*status);
  for (std::size_t at = line_end + 2; at < head.size();) {
    const std::size_t next = head.find("\r\n", at);
    const std::string_view line = std::string_view(head).substr(at, next - at);
    at = next + 2;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string& value = response_.headers[lower(line.substr(0, colon))];
    value += (value.empty() ? "" : ", ") + std::string(trimmed(line.substr(colon + 1), kBlanks));
  }
  has_head_ = true;
  chunked_ = lower(response_.header("transfer-encoding")) == "chunked";
  if (const std::string length = response_.header("content-length"); !length.empty() && !chunked_)
    length_ = number(length, 10);
  return true;
}

Result<bool> RegistryResponseReader::read_body(bool is_at_end) {
  if (body_ == Body::none || response_.status == 204 || response_.status == 304) return true;
  if (bytes_.size() + response_.body.size() > kMaxBody || length_.value_or(0) > kMaxBody)
    return invalid("a body that is too long");
  if (chunked_) {
    const auto complete = read_chunks();
    if (complete && !*complete && is_at_end) return invalid("an incomplete body");
    return complete;
  }
  const bool complete = length_ ? bytes_.size() >= *length_ : is_at_end;
  if (!complete && is_at_end) return invalid("an incomplete body");
  if (complete) response_.body = bytes_.substr(0, length_.value_or(bytes_.size()));
  return complete;
}

Result<bool> RegistryResponseReader::read_chunks() {
  while (true) {
    const std::size_t line = bytes_.find("\r\n");
    if (line == std::string::npos) return false;
    const auto size = number(
        trimmed(std::string_view(bytes_).substr(0, std::min(line, bytes_.find(';'))), kBlanks), 16);
    if (!size || *size > kMaxBody) return invalid("an invalid chunk");
    if (*size == 0) return true;
    if (bytes_.size() < line + 2 + *size + 2) return false;
    response_.body += bytes_.substr(line + 2, *size);
    bytes_.erase(0, line + 2 + *size + 2);
  }
}

}  // namespace cronlatch::registry
