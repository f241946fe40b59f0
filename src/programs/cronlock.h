// SPDX-License-Identifier: Apache-2.0
// cronlock (kvz): its CRONLOCK_ variables, configuration file, key names and exit codes. The key is
// that of cronlock, so that a run of either program excludes the other.
#pragma once

#include <string_view>

#include "programs/cronlock_run.h"

namespace cronlatch {

inline constexpr std::string_view kCronlockHelp =
    "  cronlock /usr/local/bin/report --nightly\n"
    "\n"
    "usage: cronlock COMMAND [ARG...]\n"
    "runs the command while it holds a key in Redis. Variables, files, key names and\n"
    "exit codes are those of cronlock, which excludes this run by the same key.\n"
    "\n"
    "  CRONLOCK_CONFIG   else cronlock.conf beside the program or in /etc; NAME=VALUE\n"
    "  CRONLOCK_HOST, _PORT, _DB, _AUTH   localhost, 6379, 0, no password\n"
    "  CRONLOCK_USE_SENTINEL=yes, CRONLOCK_SENTINEL_MASTER, _HOST, _PORT\n"
    "  CRONLOCK_REDIS_TIMEOUT             30 s, at most 60 s are used\n"
    "  CRONLOCK_RECONNECT_ATTEMPTS, _BACKOFF   5 times, 5 s more each time\n"
    "  CRONLOCK_KEY, _PREFIX              md5 of the command, cronlock.\n"
    "  CRONLOCK_GRACE                     40 s: the key is kept at least this long\n"
    "  CRONLOCK_RELEASE                   a crash blocks the key, at most 2 minutes\n"
    "  CRONLOCK_TIMEOUT                   0: no limit for the command, in seconds\n"
    "  CRONLOCK_RESET=yes                 remove the key, run nothing, exit code 200\n"
    "  CRONLOCK_VERBOSE=yes               messages on standard error\n"
    "  --explain  print the cronlatch command line, run nothing\n"
    "  --version, --help                  print the version, or this page\n"
    "\n"
    "Exit codes: the command's own; 200 skipped or reset; 201 an error; 202 the time\n"
    "limit; 126, 127 the command cannot be executed, is not found.\n";

// Code::usage or Code::config; the message begins with "cronlock:".
Result<ParsedProgram> parse_cronlock(const ProgramInput& input);
ProgramEnd end_cronlock(const NativeRun& run, const Outcome& outcome);

}  // namespace cronlatch
