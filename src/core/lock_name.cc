// SPDX-License-Identifier: Apache-2.0
#include "core/lock_name.h"

#include <algorithm>

#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxLockName = 200;
constexpr std::size_t kShown = 32;  // of one that is too long: it begins with the namespace

bool is_lock_character(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/';
}

std::string describe(char c) {
  if (c == ' ') return "a blank";
  if (c == '\0') return "a NUL byte";
  return quoted(std::string_view(&c, 1));
}

Error wrong_lock(std::string message) {
  return {Code::config, std::move(message), "use 1 to 200 characters: letters, digits, . _ - /"};
}

}  // namespace

Status check_lock_name(std::string_view name) {
  if (name.empty()) return wrong_lock("the lock name is empty");
  const auto bad = std::find_if_not(name.begin(), name.end(), is_lock_character);
  if (bad != name.end())
    return wrong_lock("lock name " + quoted(name) + " contains " + describe(*bad) +
                      " at position " + std::to_string(bad - name.begin() + 1));
  if (name.size() > kMaxLockName)
    return wrong_lock("lock name " + quoted(std::string(name.substr(0, kShown)) + "...") + " is " +
                      std::to_string(name.size()) + " characters long");
  return Done{};
}

}  // namespace cronlatch
