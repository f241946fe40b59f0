// SPDX-License-Identifier: Apache-2.0
// A number without a unit is refused, because it is not clear whether 90 means seconds.
#include "base/duration.h"

#include <array>

#include "base/text.h"

namespace cronlatch {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t millis;
};
constexpr std::array<Unit, 5> kUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::size_t kMaxDigits = 15;  // more would not fit; kMaxMillis then bounds the value
constexpr std::int64_t kMaxMillis = 36'500 * kUnits[0].millis;

Error not_a_duration(std::string_view text) {
  return {Code::usage, quoted(text) + " is not a duration",
          "write it like 30s, 5m, 1h30m or 1500ms"};
}

// Of the last number in `text`; the units from `next` on can follow.
Error no_unit(std::string_view text, std::size_t next) {
  const std::string t(text);
  if (next == kUnits.size()) return not_a_duration(text);
  return {Code::usage, quoted(text) + " has no unit",
          "write it like " +
              (next == 0 ? t + "s, " + t + "m or " + t + "h" : t + std::string(kUnits[next].name))};
}

// Takes a run of `wanted` characters off the front of `rest`.
template <class Wanted>
std::string_view take_while(std::string_view& rest, Wanted wanted) {
  std::size_t n = 0;
  while (n < rest.size() && wanted(rest[n])) ++n;
  const std::string_view taken = rest.substr(0, n);
  rest.remove_prefix(n);
  return taken;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::int64_t number(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  if (text == "0") return Millis(0);
  std::int64_t sum = 0;
  std::size_t next_unit = 0;  // units are in descending order, each at most once
  std::string_view rest = text;
  if (rest.empty()) return not_a_duration(text);
  while (!rest.empty()) {
    const std::string_view digits = take_while(rest, is_digit);
    const std::string_view unit = take_while(rest, is_letter);
    if (digits.empty()) return not_a_duration(text);
    if (digits.size() > kMaxDigits)
      return Error{Code::usage, quoted(text) + " is too long", "at most 36500d"};
    if (unit.empty() && rest.empty()) return no_unit(text, next_unit);
    while (next_unit < kUnits.size() && kUnits[next_unit].name != unit) ++next_unit;
    if (next_unit == kUnits.size()) return not_a_duration(text);
    if (number(digits) > kMaxMillis / kUnits[next_unit].millis)
      return Error{Code::usage, quoted(text) + " is too long", "at most 36500d"};
    sum += number(digits) * kUnits[next_unit++].millis;
  }
  if (sum > kMaxMillis) return Error{Code::usage, quoted(text) + " is too long", "at most 36500d"};
  return Millis(sum);
}

std::string show_duration(Millis d) {
  if (d.count() == 0) return "0";
  std::string parts, single;
  std::int64_t rest = d.count();
  for (const Unit& unit : kUnits) {
    if (single.empty() && d.count() % unit.millis == 0)
      single = std::to_string(d.count() / unit.millis) + std::string(unit.name);
    if (rest / unit.millis > 0)
      parts += std::to_string(rest / unit.millis) + std::string(unit.name);
    rest %= unit.millis;
  }
  return single.size() <= parts.size() ? single : parts;
}

std::string rounded_duration(Millis d) {
  constexpr Millis kTenth{100};
  const Millis rounded = (d + kTenth / 2) / kTenth * kTenth;
  const auto tenths = rounded.count() / kTenth.count() % 10;
  if (rounded.count() == 0) return "0s";
  if (tenths == 0) return show_duration(rounded);
  return std::to_string(rounded.count() / 1'000) + '.' + std::to_string(tenths) + 's';
}

}  // namespace cronlatch
