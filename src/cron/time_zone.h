// SPDX-License-Identifier: Apache-2.0
// A time zone as this machine's /usr/share/zoneinfo describes it (TZif, RFC 8536, with the rule
// behind it for the years that it does not list). Pure but for find_zone, which reads one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cron/yearly_rule.h"

namespace cronlatch {

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

// The zone called `name` below one of `directories`; an empty name and UTC need no file.
// Code::config when there is none: an unknown name, or a machine without a time-zone database.
Result<Zone> find_zone(const std::string& name, const std::vector<std::string>& directories);

}  // namespace cronlatch
