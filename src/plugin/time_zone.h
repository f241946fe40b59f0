// SPDX-License-Identifier: Apache-2.0
// A time zone as this machine's /usr/share/zoneinfo describes it (TZif, RFC 8536, with the rule
// behind it for the years that it does not list). Pure but for find_zone, which reads one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace cronlatch::plugin {

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

class Zone {
 public:
  Zone() = default;  // UTC
  // Seconds east of Greenwich at `t`, in seconds since 1970.
  std::int32_t offset_at(std::int64_t t) const;

  struct Change {
    std::int64_t at;
    std::int32_t offset;
  };
  std::int32_t first = 0;  // before the first change
  std::vector<Change> changes;
  std::optional<YearlyRule> rule;  // after the last change
};

// The bytes of a TZif file; nothing when they are none.
std::optional<Zone> parse_zone(std::string_view bytes);
// The rule of a TZif file's last line; nothing when it cannot be read.
std::optional<YearlyRule> parse_rule(std::string_view text);

// The zone called `name` below one of `directories`; an empty name and UTC need no file.
// Code::config when there is none: an unknown name, or a machine without a time-zone database.
Result<Zone> find_zone(const std::string& name, const std::vector<std::string>& directories);

}  // namespace cronlatch::plugin
