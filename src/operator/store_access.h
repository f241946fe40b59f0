// SPDX-License-Identifier: Apache-2.0
// StoreAccess: the operator's access to the store: URL and options from the settings; user,
// password and certificates from `credentials-dir`. Replaced files are used at the next read.
#pragma once

#include <optional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "base/result.h"
#include "config/files.h"
#include "store/open.h"

namespace cronlatch::op {

struct StoreAccess {
  StoreSpec spec;
  // Changes when a credential file changes: an open connection then uses old credentials. It is a
  // hash of secrets and is never printed.
  std::size_t stamp = 0;
};

// Code::config with path and reason for a file that cannot be read.
Result<StoreAccess> read_store_access(const Settings& settings, const Files& files);

// "host:port" of each host, separated by commas, or the directory of a file store, as shown in
// labels and messages. "" without a store.
std::string store_endpoint(const Settings& settings);

// For the start of the operator: the URL weakens the check of the server, which every gated run
// also warns of.
std::optional<LogLine> store_warning(const Settings& settings);

}  // namespace cronlatch::op
