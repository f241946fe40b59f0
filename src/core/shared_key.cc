// SPDX-License-Identifier: Apache-2.0
#include "core/shared_key.h"

#include <algorithm>

#include "base/text.h"
#include "core/escaped_name.h"
#include "core/lock_name.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxKey = 150;

bool is_allowed(char c) { return c > 0x20 && c < 0x7F && c != '{' && c != '}'; }

std::string prefix_of(KeyFormat format) { return "_" + std::string(name_of(format)) + "/"; }

}  // namespace

Status check_foreign_key(std::string_view key) {
  const std::string hint =
      "1 to 150 printable ASCII characters without blanks and braces, as in cronlock.report";
  if (key.empty()) return Error{Code::config, "the key is empty", hint};
  const auto bad = std::find_if_not(key.begin(), key.end(), is_allowed);
  if (bad != key.end())
    return Error{Code::config,
                 quoted(key) + " contains " +
                     (*bad == ' ' ? "a blank" : quoted(std::string_view(&*bad, 1))) +
                     " at position " + std::to_string(bad - key.begin() + 1),
                 hint};
  if (key.size() > kMaxKey)
    return Error{Code::config, "the key is " + std::to_string(key.size()) + " characters long",
                 hint};
  if (!check_lock_name(lock_of_shared_key(KeyFormat::cronlock, key)))
    return Error{Code::config,
                 "the key is too long: its lock name has more than 200 characters, because each "
                 "character except letters, digits, . - / has three",
                 "use a shorter key"};
  return Done{};
}

std::string_view name_of(KeyFormat format) {
  switch (format) {
    case KeyFormat::native:
      return "native";
    case KeyFormat::cronlock:
    case KeyFormat::golock:
      return "cronlock";
    case KeyFormat::redlock:
      return "redlock";
  }
  return "";
}

std::string lock_of_shared_key(KeyFormat format, std::string_view key) {
  return prefix_of(format) + escape_name(key);
}

std::optional<SharedKey> shared_key_of_lock(std::string_view lock) {
  for (const KeyFormat format : {KeyFormat::cronlock, KeyFormat::redlock}) {
    const std::string prefix = prefix_of(format);
    if (!lock.starts_with(prefix)) continue;
    std::string key = unescape_name(lock.substr(prefix.size()));
    // Other names decode, too; only the name of a key encodes to itself again.
    if (!check_foreign_key(key) || lock_of_shared_key(format, key) != lock) return std::nullopt;
    return SharedKey{format, std::move(key)};
  }
  return std::nullopt;
}

std::string foreign_holder(KeyFormat format) {
  return "another program (" + std::string(name_of(format)) + " key)";
}

}  // namespace cronlatch
