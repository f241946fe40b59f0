// SPDX-License-Identifier: Apache-2.0
#include "plugin/json_fields.h"

#include <chrono>
#include <cstdio>

#include "core/text.h"

namespace cronlatch::plugin {

using kube::find;
using kube::Json;
using kube::string_at;

namespace {
constexpr std::size_t kLongestShown = 300;
}

const std::vector<Json>& array_at(const Json& object, Path path) {
  static const std::vector<Json> kNone;
  const Json* const array = find(object, path);
  return array != nullptr && array->is_array() ? array->get_ref<const std::vector<Json>&>() : kNone;
}

std::vector<std::string> strings_at(const Json& object, Path path) {
  std::vector<std::string> out;
  for (const Json& item : array_at(object, path))
    if (item.is_string()) out.push_back(item.get_ref<const std::string&>());
  return out;
}

std::int64_t number_at(const Json& object, Path path) {
  const Json* const value = find(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

bool is_true(const Json& object, Path path) {
  const Json* const value = find(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string shown(const Json& object, Path path) {
  return printable(string_at(object, path), kLongestShown);
}

std::optional<WallTime> time_at(const Json& object, Path path) {
  return parse_time(string_at(object, path));
}

std::string owner(const Json& object, std::string_view kind) {
  for (const Json& item : array_at(object, {"metadata", "ownerReferences"}))
    if (is_true(item, {"controller"}) && string_at(item, {"kind"}) == kind)
      return string_at(item, {"name"});
  return "";
}

std::optional<WallTime> parse_time(std::string_view text) {
  if (text.size() < 20 || text.size() > 40) return std::nullopt;
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, used = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi, &s, &used) != 6)
    return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(used));
  std::int64_t micros = 0, unit = 100'000;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1), unit /= 10)
      micros += (rest[0] - '0') * unit;
  }
  std::int64_t east = 0;
  if (rest != "Z" && rest != "z") {
    char sign = 0;
    int oh = 0, om = 0;
    if (std::sscanf(std::string(rest).c_str(), "%c%2d:%2d", &sign, &oh, &om) != 3 ||
        (sign != '+' && sign != '-'))
      return std::nullopt;
    east = (sign == '-' ? -1 : 1) * (oh * 3'600 + om * 60);
  }
  using namespace std::chrono;
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                            day{static_cast<unsigned>(d)}};
  if (!date.ok() || h > 24 || mi > 59 || s > 60) return std::nullopt;
  const std::int64_t seconds =
      std::int64_t{sys_days{date}.time_since_epoch().count()} * 86'400 + h * 3'600 + mi * 60 + s;
  return WallTime{(seconds - east) * 1'000'000 + micros};
}

}  // namespace cronlatch::plugin
