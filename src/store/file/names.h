// SPDX-License-Identifier: Apache-2.0
// The flat file names of a lock. The mapping is one to one, readable, and every valid lock name
// (200 characters) fits into NAME_MAX: '/' becomes '+', a leading '.' and every byte that no lock
// name holds become %XX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::file {

// What the kernel locks; inherited by the command. Never unlinked.
inline constexpr std::string_view kLockSuffix = ".lock";
// Held for the moment of one read and write of the record, by holders and contenders alike. Never
// unlinked.
inline constexpr std::string_view kMutexSuffix = ".mutex";
inline constexpr std::string_view kRecordSuffix = ".rec";
inline constexpr std::string_view kDraftSuffix =
    ".new";  // a record being written, renamed when it is whole

// The part before the suffix; Code::config for an empty name and for one that does not fit.
Result<std::string> file_base(std::string_view lock);
// The lock whose record is called `file_name`, or nothing when it is not the name of a record.
std::optional<std::string> lock_of_record(std::string_view file_name);

std::string with_suffix(const std::string& base, std::string_view suffix);

}  // namespace cronlatch::file
