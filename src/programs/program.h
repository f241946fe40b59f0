// SPDX-License-Identifier: Apache-2.0
// THE table of other programs whose command line cronlatch accepts: one row and one file for each.
// A parse turns the program's arguments and environment into options of `cronlatch run` and the
// command; everything after that is a normal run. Pure: files are read through the input, and no
// variable is changed.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "core/outcome.h"

namespace cronlatch {

struct ProgramFile {
  std::string text{};
  int error = 0;  // errno, or 0
};

struct ProgramInput {
  std::span<const std::string> arguments;      // after the program's name
  std::string directory;                       // the current one; "" if it cannot be read
  std::string default_store;                   // URL of the file store of this user
  std::span<const std::string> environment{};  // NAME=value
  std::string program_directory{};             // of this program's file; "" if it is not known
  std::string link_directory{};                // of the path that was executed; "" if not known
  std::function<ProgramFile(const std::string& path)> read{};
};

// `cronlatch run OPTIONS -- COMMAND`.
struct NativeRun {
  std::vector<std::string> options{};  // "--lock-file=/var/lock/a"
  std::vector<std::string> command{};
  bool explain = false;   // print the native command line, run nothing
  bool quiet = false;     // a busy lock is neither an error nor a message
  std::string message{};  // for standard error, before the run, with its newline; may be empty
  Secret password{};      // of the store
  std::string password_text{};  // the shell text of the password's variable: "$CRONLOCK_AUTH"
};
// `cronlatch release LOCK --force --no-wait OPTIONS`, which then exits with `exit_code`.
struct NativeRelease {
  std::string lock;
  std::vector<std::string> options{};
  int exit_code = 0;
  bool explain = false;
  Secret password{};
  std::string password_text{};
};
// For --help and --version: printed, exit code 0.
struct ProgramText {
  std::string text;
};
using ParsedProgram = std::variant<NativeRun, NativeRelease, ProgramText>;

// How the program reports the end of a run.
struct ProgramEnd {
  int exit_code = 0;
  std::string message{};  // for standard error, with its newline; may be empty
};

struct OtherProgram {
  std::string_view name;  // of the program, and of a link to cronlatch
  std::string_view help;  // at most 24 lines of 80 columns
  Result<ParsedProgram> (*parse)(const ProgramInput& input);
  ProgramEnd (*end)(const NativeRun& run, const Outcome& outcome);
  int error_code;  // for an error without an outcome: wrong arguments, an invalid option
};

std::span<const OtherProgram> program_table();
// nullptr for any other name.
const OtherProgram* find_program(std::string_view name);
// "lockrun, ...": for messages.
std::string program_names();

// The command line as text for a POSIX shell, with a newline. The password is a variable in it.
std::string native_command_line(const NativeRun& run);
std::string native_command_line(const NativeRelease& release);
std::vector<std::string> native_arguments(const NativeRun& run);
std::vector<std::string> native_arguments(const NativeRelease& release);

}  // namespace cronlatch
