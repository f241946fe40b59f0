// SPDX-License-Identifier: Apache-2.0
// The environment variables that are options, and the others of cronlatch. The environment is a
// list of NAME=value.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/setting.h"

namespace cronlatch {

inline constexpr std::string_view kPasswordVariable = "CRONLATCH_PASSWORD";
inline constexpr std::string_view kLockNameVariable = "CRONLATCH_LOCK_NAME";
inline constexpr std::string_view kFenceVariable = "CRONLATCH_FENCE";
inline constexpr std::string_view kLockHolderVariable = "CRONLATCH_LOCK_HOLDER";
inline constexpr std::string_view kLeaseVariable = "CRONLATCH_LEASE_MS";
inline constexpr std::string_view kScheduledTimeVariable = "CRONLATCH_SCHEDULED_TIME";
// Not options.
inline constexpr std::array kNoOptionVariables = {kPasswordVariable, kLockNameVariable,
                                                  kFenceVariable,    kLockHolderVariable,
                                                  kLeaseVariable,    kScheduledTimeVariable};

// NAME of "NAME=value".
std::string_view variable_name(std::string_view entry);
// As getenv(3): the first of two entries with one name.
std::optional<std::string> variable(std::span<const std::string> environment,
                                    std::string_view name);

// Every CRONLATCH_ variable that is an option; Code::usage for an unknown one.
Result<std::vector<Setting>> environment_settings(std::span<const std::string> environment);

}  // namespace cronlatch
