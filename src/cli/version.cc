// SPDX-License-Identifier: Apache-2.0
// `cronlatch version`.
#include "base/text.h"
#include "cli/subcommand.h"

namespace cronlatch {

Result<CommandOutput> version_command(const Invocation& invocation) {
  if (!invocation.arguments.empty())
    return Error{Code::usage, "unexpected argument " + quoted(invocation.arguments.front()),
                 "version takes none"};
  return CommandOutput{"cronlatch " CRONLATCH_VERSION "\n"};
}

}  // namespace cronlatch
