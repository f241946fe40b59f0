// SPDX-License-Identifier: Apache-2.0
// StoreCredentials: what a connection to the store signs in with. CredentialSource: gives them as
// they are now, because files may be replaced while a run lives (a rotated password or
// certificate).
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace cronlatch {

struct StoreCredentials {
  std::string username;  // wins over the URL's
  Secret password;
  // Paths of PEM files, which are read where they are used.
  std::string tls_ca;    // "" = the system's CAs
  std::string tls_cert;  // both or none
  std::string tls_key;
};

// Code::config with path and reason for what cannot be read.
using CredentialSource = std::function<Result<StoreCredentials>()>;

}  // namespace cronlatch
