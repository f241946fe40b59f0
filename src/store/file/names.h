// SPDX-License-Identifier: Apache-2.0
// The file names of a lock, in one directory. The mapping is one to one, and every valid lock name
// (200 characters) fits into NAME_MAX: '/' becomes '+'; a leading '.' and every byte that is not
// valid in a lock name become %XX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::file {

// The kernel lock, inherited by the command. Never unlinked.
inline constexpr std::string_view kLockSuffix = ".lock";
// Held during one read and write of the record. Never unlinked.
inline constexpr std::string_view kMutexSuffix = ".mutex";
inline constexpr std::string_view kRecordSuffix = ".rec";
inline constexpr std::string_view kDraftSuffix =
    ".new";  // a record during its write, renamed when it is complete

// The kernel lock of slot 2 and higher: <base>.<slot>.slot. No other file of a lock ends with it.
inline constexpr std::string_view kSlotSuffix = ".slot";
inline constexpr unsigned kMaxSlots = 1'000;

// ".lock" for slot 1, else ".<slot>.slot".
std::string lock_suffix(unsigned slot);

// The part before the suffix. Code::config for an empty name and for a name that is too long.
Result<std::string> file_base(std::string_view lock);
// The lock whose record has this file name; no value when it is not the name of a record.
std::optional<std::string> lock_of_record(std::string_view file_name);

std::string with_suffix(const std::string& base, std::string_view suffix);

}  // namespace cronlatch::file
