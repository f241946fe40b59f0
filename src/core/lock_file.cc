// SPDX-License-Identifier: Apache-2.0
#include "core/lock_file.h"

#include "base/text.h"
#include "core/lock_name.h"

namespace cronlatch {
namespace {

constexpr std::string_view kPrefix = "_file";
constexpr std::string_view kHex = "0123456789abcdef";

bool is_hex(char c) { return kHex.find(c) != std::string_view::npos; }

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
}

bool hex_follows(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
}

}  // namespace

Status check_lock_file(std::string_view path) {
  if (!path.starts_with('/'))
    return Error{Code::config, quoted(path) + " is not an absolute path",
                 "write for example /var/lock/nightly"};
  if (path.find('\0') != std::string_view::npos)
    return Error{Code::config, "the path contains a NUL byte", "remove it"};
  if (!check_lock_name(lock_of_file(path)))
    return Error{Code::config,
                 "the path is too long: its lock name " + quoted(lock_of_file(path)) +
                     " has more than 200 characters",
                 "use a shorter path"};
  return Done{};
}

std::string lock_of_file(std::string_view path) {
  std::string lock(kPrefix);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (is_plain(c) || (c == '_' && !hex_follows(path, i))) {
      lock += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    lock += {'_', kHex[byte >> 4], kHex[byte & 15]};
  }
  return lock;
}

std::optional<std::string> file_of_lock(std::string_view lock) {
  if (!lock.starts_with(kPrefix) || !lock.substr(kPrefix.size()).starts_with('/'))
    return std::nullopt;
  const std::string_view text = lock.substr(kPrefix.size());
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && hex_follows(text, i)) {
      path += static_cast<char>(kHex.find(text[i + 1]) << 4 | kHex.find(text[i + 2]));
      i += 2;
    } else {
      path += text[i];
    }
  }
  // Other names decode, too; only the name of a file encodes to itself again.
  if (!check_lock_file(path) || lock_of_file(path) != lock) return std::nullopt;
  return path;
}

}  // namespace cronlatch
