// SPDX-License-Identifier: Apache-2.0
// The flags of subcommands that are no options. The subcommand, its help page, the manual page and
// the completions read them.
#pragma once

#include <array>

#include "config/flags.h"

namespace cronlatch {

inline constexpr ExtraFlag kOutputFlag{"-o", "table|json", "output format; table is the default"};
inline constexpr ExtraFlag kLongOutputFlag{"--output", kOutputFlag.value, "the same as -o"};
inline constexpr std::array kOutputFlags = {kOutputFlag, kLongOutputFlag};

inline constexpr std::array kLocksFlags = {
    ExtraFlag{kOutputFlag.name, kOutputFlag.value,
              "output format; table is the default. JSON objects have lock, state (free, held, "
              "expired, cooling, revoked, damaged), holder, job, fence, attempt, since, expires, "
              "ttl_ms, slots, grants, waiters, pid, counters, jobs"},
    kLongOutputFlag};

inline constexpr std::string_view kForce = "--force";
inline constexpr std::string_view kNoWait = "--no-wait";
inline constexpr std::array kReleaseFlags = {
    ExtraFlag{kForce, "", "revoke; without it the state of the lock is reported"},
    ExtraFlag{kNoWait, "", "do not wait until it is released or its lease has ended"}};

inline constexpr std::string_view kFor = "--for";
inline constexpr std::string_view kReason = "--reason";
inline constexpr std::array kHoldFlags = {
    ExtraFlag{kFor, "TIME", "how long the lock is kept, 1s to 30d; required"},
    ExtraFlag{kReason, "TEXT", "the name of the holder, which every skipped run logs; required"}};

inline constexpr std::string_view kSchedule = "--schedule";
inline constexpr std::array kAdviseFlags = {
    kOutputFlag, kLongOutputFlag,
    ExtraFlag{kSchedule, "CRON",
              "schedule of the lock in --lock, for example '*/5 * * * *'; the lock "
              "statistics contain no schedule"}};

inline constexpr std::string_view kPrint = "--print";
inline constexpr std::array kStoreFlags = {
    ExtraFlag{kPrint, "", "print the SQL instead, for psql; no server is contacted"}};

}  // namespace cronlatch
