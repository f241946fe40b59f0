// SPDX-License-Identifier: Apache-2.0
// Secrets of the core API: their paths and values.
#pragma once

#include <map>
#include <string>

#include "kube/api.h"

namespace cronlatch::kube {

std::string secret_path(const std::string& namespace_name, const std::string& name);

// The decoded value of one key; "" when it is missing or cannot be decoded.
std::string secret_value(const Json& secret, std::string_view key);

}  // namespace cronlatch::kube
