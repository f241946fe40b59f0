// SPDX-License-Identifier: Apache-2.0
// The login at the store: user, password and certificates, from options, from CRONLATCH_PASSWORD
// and from a directory. Files may be replaced at any time: each new connection reads them again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "config/files.h"
#include "core/store_credentials.h"
#include "options/options.h"

namespace cronlatch {

struct Credentials {
  Secret password;
  std::string password_origin;  // "" when there is none
  Secret sentinel_password;
  std::string sentinel_password_origin;
  // Key of an option that was set from the directory, and the path.
  std::vector<std::pair<std::string, std::string>> origins;
  std::vector<LogLine> warnings;
};

// Sets options that are not set from the files of credentials-dir, and finds the password:
// password-file overrides the variable, the variable overrides the directory. Code::config with
// path and reason for a file that cannot be read.
Result<Credentials> find_credentials(Options& options,
                                     const std::optional<std::string>& password_variable,
                                     const Files& files);

// Reads the same files again: `given` are the options before find_credentials() changed them.
// Code::config also for a certificate without its key.
class CredentialReader {
 public:
  CredentialReader(const Options& given, const std::optional<std::string>& password_variable);
  Result<StoreCredentials> read(const Files& files) const;

 private:
  Options given_;
  Secret password_variable_;  // does not change during the process
};

}  // namespace cronlatch
