// SPDX-License-Identifier: Apache-2.0
#include "admission/lock_names.h"

#include <algorithm>

#include "admission/lock_words.h"
#include "core/lock_name.h"

namespace cronlatch::op {
namespace {

// No namespace can have this name: "_" is not in a DNS label.
constexpr std::string_view kClusterLocks = "_cluster/";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

Result<std::string> full_lock_name(LockScope scope, const std::string& namespace_name,
                                   const std::string& name) {
  const std::string prefix =
      scope == LockScope::cluster ? std::string(kClusterLocks) : namespace_name + "/";
  const std::string full = prefix + name;
  if (Status checked = check_lock_name(full); !checked.ok()) return checked.error();
  return full;
}

bool is_yes_or_no(std::string_view text) {
  return std::find(kYesAndNo.begin(), kYesAndNo.end(), lower(text)) != kYesAndNo.end();
}

}  // namespace cronlatch::op
