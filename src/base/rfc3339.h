// SPDX-License-Identifier: Apache-2.0
// Wall time as text: the profile of ISO 8601 that RFC 3339 describes, as people, Kubernetes and our
// own JSON write it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace cronlatch {

// "2026-11-21T02:00:00Z"; years before 0 or after 9999 are shown as the nearest that can be.
std::string rfc3339(WallTime t);

// With any offset, to the second: a fraction is read over. Nothing for anything else.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace cronlatch
