// SPDX-License-Identifier: Apache-2.0
// StoreCredentials: the login of a connection to the store. CredentialSource: reads them anew,
// because files may be replaced during a run (a rotated password or certificate).
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace cronlatch {

struct StoreCredentials {
  std::string username;  // overrides the URL's
  Secret password;
  // Paths of PEM files, which are read where they are used.
  std::string tls_ca;    // "" = the system's CAs
  std::string tls_cert;  // both or none
  std::string tls_key;
  std::string sentinel_username;  // of the Sentinels; they never get those of the store
  Secret sentinel_password;
};

// Code::config with path and reason for a file that cannot be read.
using CredentialSource = std::function<Result<StoreCredentials>()>;

}  // namespace cronlatch
