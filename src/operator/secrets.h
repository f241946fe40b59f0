// SPDX-License-Identifier: Apache-2.0
// Secrets of the core API: paths, and values that travel in base64.
#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "kube/api.h"

namespace cronlatch::op {

std::string secret_path(const std::string& namespace_name, const std::string& name);

std::string base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

// The decoded value of one key; "" when it is missing or cannot be decoded.
std::string secret_value(const kube::Json& secret, std::string_view key);

}  // namespace cronlatch::op
