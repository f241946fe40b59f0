// SPDX-License-Identifier: Apache-2.0
#include "cli/programs.h"

#include "config/child_environment.h"
#include "proc/command.h"

namespace cronlatch {

Result<Programs> find_programs(const Loaded& loaded, std::span<const std::string> environment) {
  if (const Status nested = refuse_nested(environment, loaded.options.lock); !nested)
    return nested.error();
  const std::vector<std::string> scrubbed = scrubbed_environment(environment);
  Result<Command> command = Command{};
  if (!loaded.rest.empty()) command = resolve_command(loaded.rest, scrubbed);
  if (!command) return command.error();
  Result<Command> skip = Command{};
  if (!loaded.options.skip_command.empty())
    skip = resolve_command(loaded.options.skip_command, scrubbed);
  if (!skip)
    return Error{skip.error().code, "skip-command: " + skip.error().message, skip.error().hint};
  return Programs{std::move(command), std::move(skip), {}};
}

}  // namespace cronlatch
