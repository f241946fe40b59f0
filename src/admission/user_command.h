// SPDX-License-Identifier: Apache-2.0
// What of a workload is gated: the container and its command. Refuses with field path and fix where
// that cannot be told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/findings.h"
#include "admission/lock_request.h"
#include "admission/job_view.h"
#include "labels/names.h"
#include "labels/gate_argv.h"

namespace cronlatch::op {

inline constexpr std::string_view kByArchFlag = "--command-by-arch=";

// The index in spec.containers of the one to gate.
std::optional<std::size_t> gated_container(const Workload& workload, const LockRequest& request,
                                           Findings& findings);

// The command without our wrapper, wherever in it the wrapper stands: another webhook may have put
// something before it.
std::vector<std::string> unwrapped(const std::vector<std::string>& command);

// What the gated container runs: its own command, or what annotation or source say for the image.
// `args` is set where they must change: to the image's CMD, because the container has none, or to
// what they were before another webhook moved our wrapper there. `command` is empty for an image
// without ENTRYPOINT, where the arguments are all there is.
struct UserCommand {
  std::vector<std::string> command;
  std::optional<std::vector<std::string>> args;
  std::string by_arch{};  // instead of the two: the value of --command-by-arch
  std::string from{};     // Entrypoint::from
  std::string pinned{};   // Entrypoint::pinned
};
std::optional<UserCommand> user_command(const Workload& workload, std::size_t container,
                                        const LockRequest& request, const EntrypointSource& source,
                                        Findings& findings);

}  // namespace cronlatch::op
