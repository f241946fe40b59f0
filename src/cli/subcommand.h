// SPDX-License-Identifier: Apache-2.0
// THE subcommand table: what the program can do, one row and one file each. main dispatches by it,
// help is rendered from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

// What main passes on; nothing else of the process is looked at.
struct Invocation {
  std::vector<std::string> arguments;    // after the subcommand's name
  std::vector<std::string> environment;  // NAME=value
  const Clock& clock;
};

// What a subcommand leaves behind: `text` goes to standard output in one piece.
struct Printed {
  std::string text;
  int exit_code = 0;
};

struct Subcommand {
  std::string_view name;
  std::string_view usage;  // after the name
  std::string_view help;   // one line
  std::string_view example;
  std::string_view details;  // what `cronlatch NAME --help` says beyond that
  Result<Printed> (*function)(const Invocation&);
};

std::span<const Subcommand> subcommand_table();
const Subcommand* find_subcommand(std::string_view name);
// Code::usage, naming the nearest subcommand where one is near.
Error unknown_subcommand(std::string_view name);

// ---- the functions of the table, one file each ----
Result<Printed> run_command(const Invocation& invocation);
Result<Printed> explain_command(const Invocation& invocation);
Result<Printed> ls_command(const Invocation& invocation);
Result<Printed> show_command(const Invocation& invocation);
Result<Printed> release_command(const Invocation& invocation);
Result<Printed> metrics_command(const Invocation& invocation);
Result<Printed> advise_command(const Invocation& invocation);
Result<Printed> config_command(const Invocation& invocation);
Result<Printed> install_command(const Invocation& invocation);
Result<Printed> version_command(const Invocation& invocation);
Result<Printed> help_command(const Invocation& invocation);

}  // namespace cronlatch
