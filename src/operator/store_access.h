// SPDX-License-Identifier: Apache-2.0
// StoreAccess: the operator's own way to the store: the URL and the platform's options from the
// settings, user, password and certificates from `credentials-dir`. Files may be replaced at any
// time; the next reading sees it.
#pragma once

#include <string>

#include "admission/settings.h"
#include "base/result.h"
#include "config/files.h"
#include "store/open.h"

namespace cronlatch::op {

struct StoreAccess {
  StoreSpec spec;
  // Another one when a file has another content: then what is open is of yesterday. It is made of
  // secrets, so it is never shown.
  std::size_t stamp = 0;
};

// Code::config with path and reason for a file that cannot be read.
Result<StoreAccess> read_store_access(const Settings& settings, const Files& files);

// "host:port", or the directory of a file store: what people and labels call it. "" without a
// store.
std::string store_endpoint(const Settings& settings);

}  // namespace cronlatch::op
