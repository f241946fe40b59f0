// SPDX-License-Identifier: Apache-2.0
// What cronlock and golock have in common: the run that follows from their settings, and their exit
// codes. Both lock by one key in Redis, whose value is the time at which it is free
// (core/shared_key.h). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/cronlock_settings.h"
#include "programs/program.h"

namespace cronlatch {

inline constexpr int kCronlockSkipped = 200;
inline constexpr int kCronlockError = 201;
inline constexpr int kCronlockTimedOut = 202;

// `first`: --explain, --help and --version before the command.
struct CronlockWords {
  std::string_view first{};
  std::vector<std::string> command{};
};
CronlockWords split_cronlock_words(std::span<const std::string> arguments);

Result<ParsedProgram> cronlock_run(const CronlockSettings& settings, const CronlockFlavor& flavor,
                                   CronlockWords words);

// 200 skipped, 201 an error, 202 the time limit; otherwise that of `run`.
int cronlock_exit_code(const Outcome& outcome);

}  // namespace cronlatch
