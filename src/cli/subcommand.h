// SPDX-License-Identifier: Apache-2.0
// THE subcommand table: one row and one file for each subcommand. main dispatches by it, help is
// rendered from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/flags.h"
#include "core/outcome.h"

namespace cronlatch {

// The input of a subcommand; it uses nothing else of the process.
struct Invocation {
  std::vector<std::string> arguments;    // after the subcommand's name
  std::vector<std::string> environment;  // NAME=value
  const Clock& clock;
  std::optional<std::string> password{};        // of the store, from another program's settings
  std::span<const std::string_view> ignored{};  // options of which only the flag counts
};

// The result of a subcommand: `text` is written to standard output at once.
struct CommandOutput {
  std::string text{};
  int exit_code = 0;
  std::optional<Outcome> outcome{};  // `run` only: how the run ended
};

struct Subcommand {
  std::string_view name;
  std::string_view usage;  // after the name
  std::string_view help;   // one line
  std::string_view example;
  std::string_view details;          // further lines of `cronlatch NAME --help`
  std::span<const ExtraFlag> flags;  // besides the options
  Result<CommandOutput> (*function)(const Invocation&);

  bool takes_options() const { return usage.find("[options]") != std::string_view::npos; }
  bool takes_command() const { return usage.find("COMMAND") != std::string_view::npos; }
};

std::span<const Subcommand> subcommand_table();
const Subcommand* find_subcommand(std::string_view name);
// Code::usage; the hint names a similar subcommand, if there is one.
Error unknown_subcommand(std::string_view name);

// ---- the functions of the table, one file each ----
Result<CommandOutput> run_command(const Invocation& invocation);
Result<CommandOutput> as_command(const Invocation& invocation);
Result<CommandOutput> explain_command(const Invocation& invocation);
Result<CommandOutput> hold_command(const Invocation& invocation);
Result<CommandOutput> sleep_command(const Invocation& invocation);
Result<CommandOutput> demo_command(const Invocation& invocation);
Result<CommandOutput> ls_command(const Invocation& invocation);
Result<CommandOutput> show_command(const Invocation& invocation);
Result<CommandOutput> release_command(const Invocation& invocation);
Result<CommandOutput> metrics_command(const Invocation& invocation);
Result<CommandOutput> advise_command(const Invocation& invocation);
Result<CommandOutput> config_command(const Invocation& invocation);
Result<CommandOutput> store_command(const Invocation& invocation);
Result<CommandOutput> install_command(const Invocation& invocation);
Result<CommandOutput> version_command(const Invocation& invocation);
Result<CommandOutput> help_command(const Invocation& invocation);

}  // namespace cronlatch
