// SPDX-License-Identifier: Apache-2.0
// Opens a store by its URL: the only list of backends. Nothing is contacted here; the first ask()
// does that.
#pragma once

#include <memory>
#include <string>

#include "core/ledger.h"
#include "core/result.h"
#include "core/secret.h"

namespace cronlatch {

// Everything a backend may need, read and checked by the caller; paths of certificates are read by
// the backend.
struct StoreSpec {
  std::string url;       // file:///dir, redis://[user@]host[:port][/db], rediss://...
  std::string username;  // wins over the URL's
  Secret password;
  std::string tls_ca;    // PEM file; "" = the system's CAs
  std::string tls_cert;  // PEM files, both or none
  std::string tls_key;
  std::string tls_server_name;  // "" = the host of the URL
  bool tls_skip_verify = false;
  std::string key_prefix = "cronlatch:";
};

// Code::config for a URL that cannot be used (which part, and how to write it), for a certificate
// without its key.
Result<std::unique_ptr<Backend>> open_store(const StoreSpec& spec);

}  // namespace cronlatch
