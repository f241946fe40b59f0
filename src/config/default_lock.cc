// SPDX-License-Identifier: Apache-2.0
// Derived defaults.
#include "config/default_lock.h"

#include "base/digest.h"
#include "core/lock_file.h"
#include "core/shared_key.h"

namespace cronlatch {

std::string default_lock(std::span<const std::string> command) {
  std::string joined;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (i > 0) joined += '\0';
    joined += command[i];
  }
  return "_cmd/" + short_digest(joined, 16);
}

std::string default_holder(const Host& host, const Files& files) {
  std::string boot = files.read("/proc/sys/kernel/random/boot_id").text;
  if (boot.ends_with('\n')) boot.pop_back();
  return host.name + ":" + std::to_string(host.pid) + (boot.empty() ? "" : ":" + boot);
}

std::string default_store(const Host& host) {
  return host.uid == 0 ? "file:///run/cronlatch"
                       : "file:///tmp/cronlatch-" + std::to_string(host.uid);
}

void set_derived_defaults(Options& options, std::span<const std::string> command, const Host& host,
                          const Files& files) {
  if (!options.lock_file.empty()) options.lock = lock_of_file(options.lock_file);
  if (options.key_format != KeyFormat::native)
    options.lock = lock_of_shared_key(options.key_format, options.foreign_key);
  if (options.lock.empty() && !command.empty()) options.lock = default_lock(command);
  if (options.store.empty()) options.store = default_store(host);
  if (options.holder.empty()) options.holder = default_holder(host, files);
}

}  // namespace cronlatch
