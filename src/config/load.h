// SPDX-License-Identifier: Apache-2.0
// load: command line, environment and file -> Options, each with its origin. Order: flag,
// environment, file, default. It knows neither defaults nor meanings (those are the table's) and no
// program. Reads files only through Files.
#pragma once

#include <map>
#include <memory>
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
  std::span<const std::string> args;         // behind the subcommand
  std::span<const std::string> environment;  // NAME=value
  Rest rest = Rest::nothing;
  std::span<const ExtraFlag> extras{};
};

struct Loaded {
  // Validated; lock, store and holder are filled in (the lock only when there is a command).
  Options options;
  // Beside option_table(): "flag", "environment CRONLATCH_TTL", "<path>:3", "default".
  std::vector<std::string> origins;
  Secret password;
  std::shared_ptr<const CredentialReader> credentials;  // to read them again for a later connection
  std::string password_origin;                          // "" when there is none
  std::vector<std::string> rest;                        // the whole command, or the name
  std::map<std::string, std::string, std::less<>> extras;  // flags of the subcommand: name -> value
  std::vector<LogLine> warnings;                           // to be logged once the log is open

  const std::string& origin(std::string_view key) const;  // REQUIRES: a key of the table
};

// Code::usage (a key, a value, the shape of the command line) or Code::config (a file, a name, a
// combination of options). A call for --help is the caller's business, before this.
Result<Loaded> load(const LoadInput& input, const Files& files, const Host& host);

}  // namespace cronlatch
