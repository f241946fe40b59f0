// SPDX-License-Identifier: Apache-2.0
// The command of the gated container without the wrapper: its own, or that of its image.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"

namespace cronlatch::op {

inline constexpr std::string_view kByArchFlag = "--command-by-arch=";

// The command without the wrapper, at whatever index the wrapper is: another webhook may have put
// another program before it.
std::vector<std::string> without_wrapper(const std::vector<std::string>& command);

struct UserCommand {
  std::vector<std::string> command;  // empty: an image without ENTRYPOINT; the args are the command
  // Set where the rewrite must change them: to the image's CMD, because the container has no args;
  // or to the args from before another webhook moved the wrapper there.
  std::optional<std::vector<std::string>> args;
  std::string by_arch{};  // instead of the two: the value of --command-by-arch
  std::string from{};     // Entrypoint::from
  std::string pinned{};   // Entrypoint::pinned
};
// From the container, the annotation cronlatch.dev/command or `source`. Adds a finding where none
// of them has the command.
std::optional<UserCommand> user_command(const JobView& job, std::size_t container,
                                        const LockRequest& request, const EntrypointSource& source,
                                        Findings& findings);

}  // namespace cronlatch::op
