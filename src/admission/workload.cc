// SPDX-License-Identifier: Apache-2.0
#include "admission/workload.h"

#include <charconv>
#include <chrono>

namespace cronlatch::op {
namespace {

using kube::Json;

// Takes `digits` digits off the front.
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

const Json& Workload::pod_spec() const {
  static const Json kNone = Json::object();
  const Json* const spec = kube::find(*job, {"spec", "template", "spec"});
  return spec != nullptr && spec->is_object() ? *spec : kNone;
}

std::string Workload::container_path(std::size_t index) const {
  return path + "spec.template.spec.containers[" + std::to_string(index) + "]";
}

std::string owning_cronjob(const Json& job) {
  for (const Json& owner : items_at(job, {"metadata", "ownerReferences"}))
    if (kube::string_at(owner, {"kind"}) == "CronJob" &&
        kube::string_at(owner, {"apiVersion"}).starts_with("batch/"))
      return kube::string_at(owner, {"name"});
  return "";
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

const std::vector<Json>& items_at(const Json& object,
                                  std::initializer_list<std::string_view> path) {
  static const std::vector<Json> kNone;
  const Json* const items = kube::find(object, path);
  return items != nullptr && items->is_array() ? items->get_ref<const Json::array_t&>() : kNone;
}

std::vector<std::string> strings_at(const Json& object,
                                    std::initializer_list<std::string_view> path) {
  std::vector<std::string> strings;
  for (const Json& item : items_at(object, path))
    if (item.is_string()) strings.push_back(item.get<std::string>());
  return strings;
}

std::optional<std::size_t> index_of_name(const std::vector<Json>& items, std::string_view name) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (kube::string_at(items[i], {"name"}) == name) return i;
  return std::nullopt;
}

std::optional<std::int64_t> number_at(const Json& object,
                                      std::initializer_list<std::string_view> path) {
  const Json* const value = kube::find(object, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

bool is_true(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* const value = kube::find(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace cronlatch::op
