// SPDX-License-Identifier: Apache-2.0
// YearlyRule: the daylight saving time of every year, for the times that a zone's file does not
// list. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cronlatch {

// A yearly clock change, in the notation of POSIX TZ ("CET-1CEST,M3.5.0,M10.5.0/3").
struct YearlyRule {
  struct Day {
    enum class Kind { julian, zero_based, weekday_of_month } kind = Kind::zero_based;
    int month = 0, week = 0, day = 0;
    std::int64_t time = 7'200;  // seconds after local midnight; may be negative, or beyond a day
  };
  std::int32_t standard = 0;  // seconds east of Greenwich
  std::optional<std::int32_t> summer;
  Day begin, end;  // of daylight saving time, each in local time before the change
};

// Parses the last line of a TZif file; nothing if it is invalid.
std::optional<YearlyRule> parse_rule(std::string_view text);

// Seconds east of Greenwich at `t`, in seconds since 1970.
std::int32_t offset_by(const YearlyRule& rule, std::int64_t t);

}  // namespace cronlatch
