// SPDX-License-Identifier: Apache-2.0
// The mount that does not permit to execute a file.
#pragma once

#include <optional>
#include <string>

namespace cronlatch {

// The mount point of `path`, where that mount has the flag noexec; std::nullopt
// otherwise, or where `path` is not accessible.
std::optional<std::string> noexec_mount(const std::string& path);

// The hint of an error.
std::string noexec_hint(const std::string& mount);

}  // namespace cronlatch
