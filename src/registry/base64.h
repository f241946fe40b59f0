// SPDX-License-Identifier: Apache-2.0
// What logins travel in.
#pragma once

#include <string>

namespace cronlatch::registry {

std::string base64(const std::string& bytes);

}  // namespace cronlatch::registry
