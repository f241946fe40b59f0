// SPDX-License-Identifier: Apache-2.0
// load: command line, environment and file -> Options, each with its origin. Order: flag,
// environment, file, default. Defaults and meanings are in the option table. Reads files only
// through Files.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "config/credentials.h"
#include "config/default_lock.h"
#include "config/files.h"
#include "config/flags.h"
#include "options/options.h"

namespace cronlatch {

inline constexpr std::string_view kDefaultConfig = "/etc/cronlatch.yaml";

struct LoadInput {
  std::span<const std::string> args;         // after the subcommand
  std::span<const std::string> environment;  // NAME=value
  Operands operands = Operands::nothing;
  std::span<const ExtraFlag> extras{};
  std::optional<std::string> password{};        // in place of the variable, also with isolated
  std::span<const std::string_view> ignored{};  // keys that environment and file do not set
};

struct LoadedOptions {
  // Validated; lock, store and holder are filled in (the lock only when there is a command).
  Options options;
  // Beside option_table(): "flag", "environment CRONLATCH_TTL", "<path>:3", "default".
  std::vector<std::string> origins;
  Secret password;
  std::shared_ptr<const CredentialReader> credentials;  // for later connections
  std::string password_origin;                          // "" when there is none
  Secret sentinel_password;
  std::string sentinel_password_origin;
  std::vector<std::string> operands;                       // the command, or the name
  std::map<std::string, std::string, std::less<>> extras;  // flags of the subcommand: name -> value
  std::vector<LogLine> warnings;                           // to be logged once the log is open

  const std::string& origin(std::string_view key) const;  // REQUIRES: a key of the table
};

// Code::usage (a key, a value, the shape of the command line) or Code::config (a file, a name, a
// combination of options). The caller handles --help before.
Result<LoadedOptions> load(const LoadInput& input, const Files& files, const Host& host);

}  // namespace cronlatch
