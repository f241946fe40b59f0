// SPDX-License-Identifier: Apache-2.0
// Wall time as text by RFC 3339, as in Kubernetes objects and in the JSON of cronlatch. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace cronlatch {

// "2026-11-21T02:00:00Z"; years before 0 or after 9999 are clamped.
std::string rfc3339(WallTime t);

// With any offset; a fraction of a second is ignored. std::nullopt for any other text.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace cronlatch
