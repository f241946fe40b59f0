// SPDX-License-Identifier: Apache-2.0
// Durations as text: 30s, 5m, 1h30m, 1500ms. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

// Accepts "0"; refuses any other number without a unit, and values above 36,500 days.
Result<Millis> parse_duration(std::string_view text);
// The shortest text that parse_duration reads back as `d`: "2m", "90s", "1d1s".
std::string show_duration(Millis d);
// For messages: seconds with one decimal, "96.1s"; show_duration where there are whole seconds.
std::string rounded_duration(Millis d);

}  // namespace cronlatch
