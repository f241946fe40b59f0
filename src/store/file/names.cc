// SPDX-License-Identifier: Apache-2.0
// Lock names to file names and back, one to one.
#include "store/file/names.h"

#include <algorithm>
#include <climits>

namespace cronlatch::file {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

std::string escaped(std::string_view lock) {
  std::string base;
  for (const char c : lock) {
    const bool leading_dot = base.empty() && c == '.';
    if (c == '/') {
      base += '+';
    } else if (plain(c) && !leading_dot) {
      base += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      base += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return base;
}

}  // namespace

std::string lock_suffix(unsigned slot) {
  if (slot == 1) return std::string(kLockSuffix);
  return "." + std::to_string(slot) + std::string(kSlotSuffix);
}

Result<std::string> file_base(std::string_view lock) {
  if (lock.empty()) return Error{Code::config, "the lock name is empty", "set lock"};
  std::string base = escaped(lock);
  const std::size_t longest =
      std::max({kLockSuffix.size(), kMutexSuffix.size(), kRecordSuffix.size(), kDraftSuffix.size(),
                lock_suffix(kMaxSlots).size()});
  if (base.size() + longest > NAME_MAX)
    return Error{Code::config, "the lock name is too long for a file name",
                 "use at most 200 letters, digits and . _ - /"};
  return base;
}

std::optional<std::string> lock_of_record(std::string_view file_name) {
  if (!file_name.ends_with(kRecordSuffix)) return std::nullopt;
  const std::string_view base = file_name.substr(0, file_name.size() - kRecordSuffix.size());
  std::string lock;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (base[i] == '+') {
      lock += '/';
    } else if (base[i] == '%') {
      if (i + 2 >= base.size()) return std::nullopt;
      const auto high = kHex.find(base[i + 1]), low = kHex.find(base[i + 2]);
      if (high == kHex.npos || low == kHex.npos) return std::nullopt;
      lock += static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      lock += base[i];
    }
  }
  // Other names can decode, too; only the name of a record encodes to itself again.
  if (lock.empty() || escaped(lock) != base) return std::nullopt;
  return lock;
}

std::string with_suffix(const std::string& base, std::string_view suffix) {
  std::string name = base;
  name += suffix;
  return name;
}

}  // namespace cronlatch::file
