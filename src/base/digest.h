// SPDX-License-Identifier: Apache-2.0
// A short name for any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cronlatch {

// The first `digits` hex digits of the text's SHA-256; at most 64.
std::string short_digest(std::string_view text, std::size_t digits);

}  // namespace cronlatch
