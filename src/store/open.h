// SPDX-License-Identifier: Apache-2.0
// Opens a store by its URL. Nothing is contacted here: the first request does that.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "core/lock_stats.h"
#include "core/store_credentials.h"
#include "core/store_url.h"
#include "core/strict.h"

namespace cronlatch {

// Everything that a backend can need, read and checked by the caller. The first connection uses
// the credentials in it.
struct StoreSpec : StoreCredentials {
  std::string url;              // core/store_schemes.h
  std::string tls_server_name;  // "" = the host of the URL
  bool tls_skip_verify = false;
  std::string key_prefix = "cronlatch:";
  // The longest lease of any run with this key prefix.
  Millis max_ttl = std::chrono::minutes(10);
  std::optional<StrictSettings> strict;  // none: off
  // Called before each connection except the first; empty: user, password and paths never change.
  CredentialSource credentials_now;
  // Gets the warnings between connections; empty: warnings are dropped.
  std::function<void(const LogLine&)> warn;
};

// Code::config for an invalid URL, and for a client certificate without its key.
Result<std::unique_ptr<Backend>> open_store(const StoreSpec& spec);

// The function that opens the stores of one scheme. Each supported scheme has one.
struct StoreOpener {
  std::string_view scheme;
  Result<std::unique_ptr<Backend>> (*open)(const StoreSpec& spec, const StoreUrl& url);
};
std::span<const StoreOpener> store_openers();

}  // namespace cronlatch
