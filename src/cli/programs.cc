// SPDX-License-Identifier: Apache-2.0
#include "cli/programs.h"

#include "config/child_environment.h"
#include "config/held_locks.h"
#include "core/store_url.h"
#include "proc/command.h"
#include "proc/posix_supervisor.h"
#include "proc/running_process.h"

namespace cronlatch {
namespace {

constexpr const char* kOutOfReach =
    "the command's descendants cannot be found: /proc is not mounted or shows another PID "
    "namespace, and cronlatch is not the first process of one; a descendant that leaves the "
    "command's process group can outlive the lease";

std::string own_lock(const Options& options) {
  const Result<StoreUrl> url = parse_store_url(options.store);
  return held_lock(url ? store_identity(*url, options.key_prefix) : "", options.lock);
}

// The process whose end ends the lock. A lock without a lease is held by every process that
// inherited its descriptor, unless the run ends it and leaves them.
std::string holder(const Options& options, bool leased) {
  return leased || options.leftovers == Leftovers::leave ? running_process() : "";
}

}  // namespace

Result<Programs> find_programs(const LoadedOptions& loaded,
                               std::span<const std::string> environment) {
  const Options& options = loaded.options;
  if (const Status nested = refuse_nested(environment, own_lock(options), options.lock, has_ended);
      !nested)
    return nested.error();
  const std::vector<std::string> scrubbed = scrubbed_environment(environment);
  Result<Command> command = Command{};
  // The variable for held locks is added with the grant.
  if (!loaded.operands.empty()) command = resolve_command(loaded.operands, without_held(scrubbed));
  if (!command) return command.error();
  Result<Command> skip = Command{};
  if (!options.skip_command.empty())
    skip = resolve_command(options.skip_command, child_environment(environment, options, {}));
  if (!skip)
    return Error{skip.error().code, "skip-command: " + skip.error().message, skip.error().hint};
  return Programs{std::move(command), std::move(skip), {}};
}

std::vector<std::string> grant_variables(const Options& options,
                                         std::span<const std::string> environment, Fence fence,
                                         bool leased) {
  // The rest of the command's environment is known before the grant.
  std::vector<std::string> added = child_environment({}, options, {fence, leased});
  const std::string lock = fence == 0 ? "" : own_lock(options);
  for (std::string& held : held_variable(environment, lock, holder(options, leased), has_ended))
    added.push_back(std::move(held));
  return added;
}

Status check_reach(const Options& options, bool leased) {
  if (!leased || options.untracked == Untracked::allow || can_reach_descendants()) return Done{};
  return Error{Code::config, kOutOfReach,
               "mount /proc, start cronlatch as the first process of a container or PID namespace, "
               "or accept the risk with untracked=allow"};
}

std::vector<LogLine> reach_warnings(bool leased) {
  if (!leased || can_reach_descendants()) return {};
  return {{Level::warn, "untracked", kOutOfReach, {}, "untracked=allow permits this"}};
}

}  // namespace cronlatch
