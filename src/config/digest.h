// SPDX-License-Identifier: Apache-2.0
// A short name for a text that may be long or hold anything.
#pragma once

#include <string>

namespace cronlatch {

// The first 16 hex digits of its SHA-256.
std::string short_digest(const std::string& text);

}  // namespace cronlatch
