// SPDX-License-Identifier: Apache-2.0
// A time zone from this machine's /usr/share/zoneinfo (TZif, RFC 8536). Its last line is the rule
// for the years that the file does not list. Only find_zone reads a file.
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
  std::int32_t initial_offset = 0;  // before the first change
  std::vector<Change> changes;
  std::optional<YearlyRule> rule;  // after the last change
};

// Parses a TZif file; nothing if it is invalid.
std::optional<Zone> parse_zone(std::string_view bytes);

// The zone `name` in one of `directories`; an empty name and UTC need no file. Code::config if it
// does not exist: an unknown name, or a machine without a time-zone database.
Result<Zone> find_zone(const std::string& name, const std::vector<std::string>& directories);

}  // namespace cronlatch
