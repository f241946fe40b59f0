// SPDX-License-Identifier: Apache-2.0
// YearlyRule: summer time as it comes every year, for the times that a zone's file does not list.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cronlatch {

// A change of the clocks that comes every year, as POSIX writes it ("CET-1CEST,M3.5.0,M10.5.0/3").
struct YearlyRule {
  struct Day {
    enum class Kind { julian, zero_based, weekday_of_month } kind = Kind::zero_based;
    int month = 0, week = 0, day = 0;
    std::int64_t time = 7'200;  // seconds after local midnight; may be negative, or beyond a day
  };
  std::int32_t standard = 0;  // seconds east of Greenwich
  std::optional<std::int32_t> summer;
  Day begin, end;  // of summer time, each by the clock before the change
};

// The rule of a TZif file's last line; nothing when it cannot be read.
std::optional<YearlyRule> parse_rule(std::string_view text);

// Seconds east of Greenwich at `t`, in seconds since 1970.
std::int32_t offset_by(const YearlyRule& rule, std::int64_t t);

}  // namespace cronlatch
