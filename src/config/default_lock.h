// SPDX-License-Identifier: Apache-2.0
// The default values that are derived from the command and the host.
#pragma once

#include <span>
#include <string>

#include "config/files.h"
#include "options/options.h"

namespace cronlatch {

// Facts of the host, read once.
struct Host {
  unsigned uid = 0;
  long pid = 0;
  std::string name;
};

// `_cmd/` and 16 hex digits of the SHA-256 of the arguments joined by NUL: the same command is the
// same lock.
std::string default_lock(std::span<const std::string> command);
// host:pid:boot-id; host:pid where the kernel reports no boot id.
std::string default_holder(const Host& host, const Files& files);
// By uid and not by the environment: cron and a login shell must use the same store.
std::string default_store(const Host& host);

// Puts the three above where an option is empty. Without a command (ls, config) the lock stays
// empty.
void set_derived_defaults(Options& options, std::span<const std::string> command, const Host& host,
                          const Files& files);

}  // namespace cronlatch
