// SPDX-License-Identifier: Apache-2.0
// Opens a store by its URL: the only list of backends. Nothing is contacted here; the first ask()
// does that.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "core/lock_stats.h"
#include "core/store_credentials.h"

namespace cronlatch {

// Everything a backend may need, read and checked by the caller. The first connection uses the
// credentials in here.
struct StoreSpec : StoreCredentials {
  std::string url;              // file:///dir, redis://[user@]host[:port][/db], rediss://...
  std::string tls_server_name;  // "" = the host of the URL
  bool tls_skip_verify = false;
  std::string key_prefix = "cronlatch:";
  // Called before each connection but the first; none: user, password and paths stay the same.
  CredentialSource credentials_now;
  // Warnings of what happens between connections; none: they are dropped.
  std::function<void(const LogLine&)> warn;
};

// Code::config for a URL that cannot be used (which part, and how to write it), for a certificate
// without its key.
Result<std::unique_ptr<Backend>> open_store(const StoreSpec& spec);

}  // namespace cronlatch
