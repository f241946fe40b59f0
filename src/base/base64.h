// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648): Secrets, registry logins, PEM files, paths of a Pushgateway. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cronlatch {

// With padding, on one line.
std::string encode_base64(std::string_view bytes);
// With the alphabet for URLs (section 5), without padding.
std::string encode_base64url(std::string_view bytes);
// White space anywhere is skipped, as PEM and hand-written Secrets have it. std::nullopt when a
// character is not in the alphabet or the padding is wrong.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace cronlatch
