// SPDX-License-Identifier: Apache-2.0
// Parses a schedule: text to fields, fields to bits. cron_schedule.cc evaluates the bits.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <span>
#include <vector>

#include "base/duration.h"
#include "base/text.h"
#include "cron/cron_schedule.h"

namespace cronlatch {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

struct FieldRule {
  std::string_view name;
  int least, most;
  std::span<const std::string_view> names;  // of least, least + 1, ...
};
constexpr std::array<FieldRule, 5> kFields = {{{"minute", 0, 59, {}},
                                               {"hour", 0, 23, {}},
                                               {"day of month", 1, 31, {}},
                                               {"month", 1, 12, kMonths},
                                               {"day of week", 0, 6, kWeekdays}}};

struct Macro {
  std::string_view word, meaning;
};
constexpr std::array<Macro, 7> kMacros = {{{"@yearly", "0 0 1 1 *"},
                                           {"@annually", "0 0 1 1 *"},
                                           {"@monthly", "0 0 1 * *"},
                                           {"@weekly", "0 0 * * 0"},
                                           {"@daily", "0 0 * * *"},
                                           {"@midnight", "0 0 * * *"},
                                           {"@hourly", "0 * * * *"}}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(" \t");
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end);
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<int> number(std::string_view text, const FieldRule& rule) {
  const std::string word = lower(text);
  for (std::size_t i = 0; i < rule.names.size(); ++i)
    if (rule.names[i] == word) return rule.least + static_cast<int>(i);
  if (text.starts_with('+')) text.remove_prefix(1);  // as strconv.Atoi accepts it
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

struct Bits {
  std::uint64_t set = 0;
  bool any = false;
};

Error field_error(const FieldRule& rule, std::string_view text) {
  std::string hint = "use " + std::to_string(rule.least) + " to " + std::to_string(rule.most);
  if (!rule.names.empty())
    hint += ", " + std::string(rule.names.front()) + " to " + std::string(rule.names.back());
  return {Code::usage,
          "schedule: the " + std::string(rule.name) + " is invalid: " + cronlatch::quoted(text),
          hint + ", *, a range (1-5), a step (*/2), or a list of these"};
}

// One item of a list: `*`, `n`, `n-m`, each with an optional step. `n/s` means n to the maximum.
Result<Bits> read_item(std::string_view text, const FieldRule& rule) {
  const std::vector<std::string_view> stepped = split(text, '/');
  const std::vector<std::string_view> ends = split(stepped[0], '-');
  if (stepped.size() > 2) return field_error(rule, text);
  Bits bits;
  int from = rule.least, to = rule.most, step = 1;
  bits.any = ends[0] == "*" || ends[0] == "?";
  if (!bits.any) {  // robfig/cron ignores what follows `*-`
    if (ends.size() > 2) return field_error(rule, text);
    const auto first = number(ends[0], rule);
    const auto last = ends.size() == 2 ? number(ends[1], rule) : first;
    if (!first || !last) return field_error(rule, text);
    from = *first;
    to = *last;
  }
  if (stepped.size() == 2) {
    const auto stride = number(stepped[1], FieldRule{rule.name, 1, rule.most, {}});
    if (!stride || *stride == 0) return field_error(rule, text);
    step = std::min(*stride, rule.most + 1);  // a longer step selects nothing further
    if (ends.size() == 1) to = rule.most;
    if (step > 1) bits.any = false;
  }
  if (from < rule.least || to > rule.most || from > to) return field_error(rule, text);
  for (int n = from; n <= to; n += step) bits.set |= std::uint64_t{1} << n;
  return bits;
}

Result<Bits> read_field(std::string_view text, const FieldRule& rule) {
  Bits all;
  for (const std::string_view item : split(text, ',')) {
    if (item.empty()) continue;  // as robfig/cron does; a field of no items never matches
    const Result<Bits> bits = read_item(item, rule);
    if (!bits) return bits.error();
    all.set |= bits->set;
    all.any = all.any || bits->any;
  }
  return all;
}

Result<CronSchedule> read_every(std::string_view text) {
  const Result<Millis> gap = parse_duration(text);
  if (!gap || gap->count() < 1'000)
    return Error{Code::usage,
                 "schedule: the duration of @every is invalid: " + cronlatch::quoted(text),
                 "use at least one second, for example @every 1h30m"};
  CronSchedule schedule;
  schedule.every = std::chrono::duration_cast<Seconds>(*gap);
  return schedule;
}

}  // namespace

Result<CronSchedule> parse_cron(std::string_view text) {
  std::vector<std::string_view> fields = words(text);
  CronSchedule schedule;
  if (!fields.empty() && (fields[0].starts_with("TZ=") || fields[0].starts_with("CRON_TZ="))) {
    schedule.zone = fields[0].substr(fields[0].find('=') + 1);
    fields.erase(fields.begin());
  }
  if (fields.size() == 2 && fields[0] == "@every") return read_every(fields[1]);
  if (fields.size() == 1 && fields[0].starts_with('@')) {
    const auto macro = std::find_if(kMacros.begin(), kMacros.end(),
                                    [&](const Macro& m) { return m.word == lower(fields[0]); });
    if (macro == kMacros.end())
      return Error{Code::usage, "schedule: unknown macro " + cronlatch::quoted(fields[0]),
                   "use @yearly, @monthly, @weekly, @daily, @hourly, @every DURATION"};
    fields = words(macro->meaning);
  }
  if (fields.size() != kFields.size())
    return Error{Code::usage, "schedule " + cronlatch::quoted(text) + " does not have five fields",
                 "use minute, hour, day of month, month, day of week: for example 0 2 * * *"};
  std::array<Bits, kFields.size()> bits;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const Result<Bits> field = read_field(fields[i], kFields[i]);
    if (!field) return field.error();
    bits[i] = *field;
  }
  schedule.minutes = bits[0].set;
  schedule.hours = bits[1].set;
  schedule.days = bits[2].set;
  schedule.any_day = bits[2].any;
  schedule.months = bits[3].set;
  schedule.weekdays = bits[4].set;
  schedule.any_weekday = bits[4].any;
  return schedule;
}

}  // namespace cronlatch
