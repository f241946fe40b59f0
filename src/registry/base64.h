// SPDX-License-Identifier: Apache-2.0
// What logins, and the values of Secrets, travel in.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace cronlatch::registry {

std::string base64(std::string_view bytes);
// Code::config for what is not base64, or lacks its padding.
Result<std::string> from_base64(std::string_view text);

}  // namespace cronlatch::registry
