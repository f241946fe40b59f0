// SPDX-License-Identifier: Apache-2.0
// golock: its CRONLOCK_ variables, key names and exit codes. The key is that of golock, so that a
// run of either program excludes the other.
#pragma once

#include <string_view>

#include "programs/cronlock_run.h"

namespace cronlatch {

inline constexpr std::string_view kGolockHelp =
    "  golock /usr/local/bin/report --nightly\n"
    "\n"
    "usage: golock COMMAND [ARG...]\n"
    "runs the command while it holds a key in Redis. Variables, key names and exit\n"
    "codes are those of golock, and a golock with the same key excludes this run.\n"
    "\n"
    "  CRONLOCK_HOST, _PORT, _DB, _AUTH   localhost, 6379, 0, no password\n"
    "  CRONLOCK_TLS, _TLS_SKIP_VERIFY     false; true, 1, false, 0\n"
    "  CRONLOCK_REDIS_TIMEOUT             30 s, at most 60 s are used\n"
    "  CRONLOCK_RECONNECT_ATTEMPTS, _BACKOFF   5 times 5 s\n"
    "  CRONLOCK_KEY, _PREFIX              md5 of the command, cronlock.\n"
    "  CRONLOCK_GRACE                     40 s: the key is kept at least this long\n"
    "  CRONLOCK_RELEASE                   a crash blocks the key, at most 2 minutes\n"
    "  CRONLOCK_TIMEOUT                   0: no limit for the command, in seconds\n"
    "  CRONLOCK_RESET=yes                 remove the key, run nothing, exit code 200\n"
    "  CRONLOCK_VERBOSE=yes, CRONLOCK_SHOW_KEY=true   messages on standard error\n"
    "  --explain  print the cronlatch command line, run nothing\n"
    "  --version, --help                  print the version, or this page\n"
    "\n"
    "Exit codes: the command's own; 200 skipped or reset; 201 an error; 202 the time\n"
    "limit; 1 the command cannot be executed.\n";

// Code::usage; the message begins with "golock:".
Result<ParsedProgram> parse_golock(const ProgramInput& input);
ProgramEnd end_golock(const NativeRun& run, const Outcome& outcome);

}  // namespace cronlatch
