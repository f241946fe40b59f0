// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace cronlatch::op {

// None of these becomes a lock's name: two teams that both write "on" must not share a lock "on".
// The chart has the same list (gen/chart_limits.cc).
inline constexpr std::array<std::string_view, 16> kYesAndNo = {
    "true", "false", "yes", "no", "on",     "off",     "y",       "n",
    "t",    "f",     "1",   "0",  "enable", "enabled", "disable", "disabled"};

}  // namespace cronlatch::op
