// SPDX-License-Identifier: Apache-2.0
// Percent-encoding by RFC 3986: unreserved characters stay, and in a path the slash.
#include "kube/target.h"

#include <string_view>

namespace cronlatch::kube {
namespace {

constexpr std::string_view kUnreserved =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
constexpr std::string_view kHex = "0123456789ABCDEF";

void append_encoded(std::string& out, std::string_view text, std::string_view also_kept) {
  for (const char c : text) {
    const bool kept = kUnreserved.find(c) != std::string_view::npos ||
                      also_kept.find(c) != std::string_view::npos;
    if (kept) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
}

}  // namespace

std::string target_of(const Request& request) {
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
