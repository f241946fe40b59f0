// SPDX-License-Identifier: Apache-2.0
// Short names for any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cronlatch {

// The first `digits` hex digits of the text's SHA-256; at most 64.
std::string short_digest(std::string_view text, std::size_t digits);

// The text's MD5 in hex: the key names of cronlock and golock.
std::string md5_hex(std::string_view text);

}  // namespace cronlatch
