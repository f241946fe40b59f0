// SPDX-License-Identifier: Apache-2.0
// The option lock-file: a lock whose kernel lock is on a file that other programs lock, too. The
// name of such a lock is `_file` and the path (core/escaped_name.h), one to one. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch {

// Code::config unless the path is absolute and its lock name has at most 200 characters.
Status check_lock_file(std::string_view path);

// The lock name of a path that check_lock_file accepts.
std::string lock_of_file(std::string_view path);

// The path in a lock name; no value for the name of any other lock.
std::optional<std::string> file_of_lock(std::string_view lock);

}  // namespace cronlatch
