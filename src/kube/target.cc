// SPDX-License-Identifier: Apache-2.0
// Percent-encoding by RFC 3986. Unreserved characters and, in a path, the slash are not encoded.
#include "kube/target.h"

#include <string_view>

namespace cronlatch::kube {
namespace {

constexpr std::string_view kUnreserved =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
constexpr std::string_view kHex = "0123456789ABCDEF";

void append_encoded(std::string& out, std::string_view text, std::string_view also_unescaped) {
  for (const char c : text) {
    const bool unescaped = kUnreserved.find(c) != std::string_view::npos ||
                           also_unescaped.find(c) != std::string_view::npos;
    if (unescaped) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
}

}  // namespace

std::string request_target(const Request& request) {
  std::string out;
  append_encoded(out, request.path, "/");
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    out += separator;
    append_encoded(out, key, "");
    out += '=';
    append_encoded(out, value, "");
    separator = '&';
  }
  return out;
}

}  // namespace cronlatch::kube
