// SPDX-License-Identifier: Apache-2.0
// lockrun: the flags of unixwiz.net's version 1.1.1 and of its fork by pushcx. The kernel lock is
// on the same file, by the same call, so that a run of either program excludes the other.
#pragma once

#include <string_view>

#include "programs/program.h"

namespace cronlatch {

inline constexpr int kLockrunError = 1;
inline constexpr std::string_view kLockrunHelp =
    "  lockrun --lockfile=/var/lock/report -- /usr/local/bin/report\n"
    "\n"
    "usage: lockrun --lockfile=FILE [options] -- COMMAND [ARG...]\n"
    "runs the command while it holds a lock on the file. The command line is that of\n"
    "lockrun, and lockrun and flock(1) on the same file exclude this run.\n"
    "\n"
    "  --lockfile=FILE  -L FILE  the file; it is created, and never removed\n"
    "  --wait           -W       wait for the lock\n"
    "  --sleep=SECONDS  -S N     with --retries: seconds for each try; default 10\n"
    "  --retries=N      -R N     with --wait: at most N - 1 times --sleep seconds\n"
    "  --maxtime=SECONDS -T N    a warning when the command runs longer; no limit\n"
    "  --quiet          -q       a busy lock is no error: exit code 0, no message\n"
    "  --idempotent     -I       the same as --quiet\n"
    "  --verbose        -V       messages about the lock on standard error\n"
    "  --store=URL               of cronlatch: the file store for the lock's record\n"
    "  --explain                 print the cronlatch command line, run nothing\n"
    "  --version, --help         print the version, or this page\n"
    "\n"
    "Exit codes: the command's own, 128+n for a signal; 1 the lock is busy, or any\n"
    "error; 126, 127 the command cannot be executed, is not found.\n";

// Code::usage; the message begins with "lockrun:".
Result<ParsedProgram> parse_lockrun(const ProgramInput& input);

// 1 for a lock that is busy (0 with --quiet) and for every error; otherwise that of `run`.
ProgramEnd end_lockrun(const NativeRun& run, const Outcome& outcome);

}  // namespace cronlatch
