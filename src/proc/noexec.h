// SPDX-License-Identifier: Apache-2.0
// The mount that forbids to execute a file.
#pragma once

#include <optional>
#include <string>

namespace cronlatch {

// The mount point of `path`, where that mount has the flag noexec; nothing where it has not, or
// where `path` cannot be looked at.
std::optional<std::string> noexec_mount(const std::string& path);

// What to do about it, for the hint of an error.
std::string noexec_hint(const std::string& mount);

}  // namespace cronlatch
