// SPDX-License-Identifier: Apache-2.0
// Parses the rule and evaluates it in local time.
#include "cron/yearly_rule.h"

#include <algorithm>
#include <chrono>

namespace cronlatch {
namespace {

constexpr std::int64_t kHour = 3'600, kDay = 86'400;
constexpr int kMaxHoursOfOffset = 24, kMaxHoursOfDay = 167;  // RFC 8536, section 3.3.1

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  bool accept(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool name() {
    const bool bracketed = accept('<');
    std::size_t n = 0;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    while (n < text_.size() && (bracketed ? text_[n] != '>' : letter(text_[n]))) ++n;
    text_.remove_prefix(n);
    return n >= 3 && (!bracketed || accept('>'));
  }
  std::optional<int> digits() {
    int value = 0;
    std::size_t n = 0;
    for (; n < text_.size() && n < 4 && text_[n] >= '0' && text_[n] <= '9'; ++n)
      value = value * 10 + (text_[n] - '0');
    text_.remove_prefix(n);
    if (n == 0) return std::nullopt;
    return value;
  }
  // [+-]h[:m[:s]] in seconds, at most `most_hours` hours either way.
  std::optional<std::int64_t> time(int most_hours) {
    const bool minus = accept('-');
    if (!minus) accept('+');
    const auto hours = digits();
    if (!hours || *hours > most_hours) return std::nullopt;
    std::int64_t seconds = *hours * kHour;
    for (const std::int64_t unit : {std::int64_t{60}, std::int64_t{1}}) {
      if (!accept(':')) break;
      const auto part = digits();
      if (!part || *part > 59) return std::nullopt;
      seconds += *part * unit;
    }
    return minus ? -seconds : seconds;
  }
  std::optional<YearlyRule::Day> day() {
    using Kind = YearlyRule::Day::Kind;
    YearlyRule::Day day;
    if (accept('M')) {
      day.kind = Kind::weekday_of_month;
      const auto month = digits();
      const auto week = accept('.') ? digits() : std::nullopt;
      const auto weekday = accept('.') ? digits() : std::nullopt;
      if (!month || !week || !weekday || *month < 1 || *month > 12 || *week < 1 || *week > 5 ||
          *weekday > 6)
        return std::nullopt;
      day.month = *month;
      day.week = *week;
      day.day = *weekday;
    } else {
      day.kind = accept('J') ? Kind::julian : Kind::zero_based;
      const auto number = digits();
      const int least = day.kind == Kind::julian ? 1 : 0;
      if (!number || *number < least || *number > 365) return std::nullopt;
      day.day = *number;
    }
    if (!accept('/')) return day;
    const auto at = time(kMaxHoursOfDay);
    if (!at) return std::nullopt;
    day.time = *at;
    return day;
  }

 private:
  std::string_view text_;
};

// Local time in seconds since 1970.
std::int64_t change_in(const YearlyRule::Day& rule, int year) {
  using namespace std::chrono;
  const auto y = std::chrono::year{year};
  sys_days date{};
  switch (rule.kind) {
    case YearlyRule::Day::Kind::weekday_of_month: {
      const auto m = month{static_cast<unsigned>(rule.month)};
      const auto wd = weekday{static_cast<unsigned>(rule.day)};
      date = rule.week == 5 ? sys_days{y / m / wd[last]}
                            : sys_days{y / m / wd[static_cast<unsigned>(rule.week)]};
      break;
    }
    case YearlyRule::Day::Kind::julian:  // February 29 is not counted
      date =
          sys_days{y / January / 1} + days{rule.day - 1 + (y.is_leap() && rule.day >= 60 ? 1 : 0)};
      break;
    case YearlyRule::Day::Kind::zero_based:
      date = sys_days{y / January / 1} + days{rule.day};
      break;
  }
  return std::int64_t{date.time_since_epoch().count()} * kDay + rule.time;
}

}  // namespace

std::optional<YearlyRule> parse_rule(std::string_view text) {
  RuleReader reader(text);
  YearlyRule rule;
  if (!reader.name()) return std::nullopt;
  const auto west = reader.time(kMaxHoursOfOffset);  // POSIX counts west of Greenwich
  if (!west) return std::nullopt;
  rule.standard = static_cast<std::int32_t>(-*west);
  if (reader.done()) return rule;
  if (!reader.name()) return std::nullopt;
  rule.summer = rule.standard + static_cast<std::int32_t>(kHour);
  const bool implied = reader.accept(',');
  if (implied && *rule.summer / kHour > kMaxHoursOfOffset) return std::nullopt;
  if (!implied) {
    const auto summer_west = reader.time(kMaxHoursOfOffset);
    if (!summer_west || !reader.accept(',')) return std::nullopt;
    rule.summer = static_cast<std::int32_t>(-*summer_west);
  }
  const auto begin = reader.day();
  if (!begin || !reader.accept(',')) return std::nullopt;
  const auto end = reader.day();
  if (!end || !reader.done()) return std::nullopt;
  rule.begin = *begin;
  rule.end = *end;
  return rule;
}

std::int32_t offset_by(const YearlyRule& rule, std::int64_t t) {
  if (!rule.summer) return rule.standard;
  using namespace std::chrono;
  const std::int64_t local = t + rule.standard;
  const std::int64_t day = local >= 0 ? local / kDay : (local - kDay + 1) / kDay;
  const int this_year = static_cast<int>(year_month_day{sys_days{days{day}}}.year());
  // The latest change at or before `t` decides. The changes of a year may be up to a week outside
  // of it: the latest may be that of the year before last. At the same second summer time begins.
  std::int64_t last_begin = INT64_MIN, last_end = INT64_MIN;
  for (const int year : {this_year - 2, this_year - 1, this_year, this_year + 1}) {
    const std::int64_t begin = change_in(rule.begin, year) - rule.standard;
    const std::int64_t end = change_in(rule.end, year) - *rule.summer;
    if (begin <= t) last_begin = std::max(last_begin, begin);
    if (end <= t) last_end = std::max(last_end, end);
  }
  return last_begin >= last_end ? *rule.summer : rule.standard;
}

}  // namespace cronlatch
