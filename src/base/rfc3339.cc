// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace cronlatch {
namespace {

// Reads and removes `digits` leading digits.
bool take_number(std::string_view& text, std::size_t digits, int& out) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, out);
  if (error != std::errc() || end != text.data() + digits || text.front() == '-') return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// "Z", "+02:00": seconds east of Greenwich.
bool take_offset(std::string_view& text, int& seconds) {
  seconds = 0;
  if (take(text, 'Z')) return true;
  const int sign = take(text, '-') ? -1 : take(text, '+') ? 1 : 0;
  int hours = 0;
  int minutes = 0;
  if (sign == 0 || !take_number(text, 2, hours) || !take(text, ':') ||
      !take_number(text, 2, minutes))
    return false;
  seconds = sign * (hours * 3600 + minutes * 60);
  return hours < 24 && minutes < 60;
}

void skip_fraction(std::string_view& text) {
  if (!take(text, '.')) return;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
}

}  // namespace

std::string rfc3339(WallTime t) {
  using namespace std::chrono;
  constexpr std::int64_t kFirst = -62'167'219'200;  // 0000-01-01T00:00:00Z
  constexpr std::int64_t kLast = 253'402'300'799;   // 9999-12-31T23:59:59Z
  const std::int64_t whole = floor<Seconds>(Micros(t.us)).count();
  const sys_seconds at{Seconds(std::clamp(whole, kFirst, kLast))};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss clock{at - day};
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ldZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
                static_cast<long>(clock.minutes().count()),
                static_cast<long>(clock.seconds().count()));
  return out.data();
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offset = 0;
  const bool read = take_number(text, 4, year) && take(text, '-') && take_number(text, 2, month) &&
                    take(text, '-') && take_number(text, 2, day) && take(text, 'T') &&
                    take_number(text, 2, hour) && take(text, ':') && take_number(text, 2, minute) &&
                    take(text, ':') && take_number(text, 2, second);
  if (!read) return std::nullopt;
  skip_fraction(text);
  if (!take_offset(text, offset) || !text.empty()) return std::nullopt;
  using namespace std::chrono;
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto at = sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) +
                  seconds(second) - seconds(offset);
  return WallTime{duration_cast<microseconds>(at).count()};
}

}  // namespace cronlatch
