// SPDX-License-Identifier: Apache-2.0
// charts/cronlatch/templates/_limits.tpl: the limits of options and settings, so that the chart
// refuses at its rendering what the operator and each run refuse at their start.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "admission/annotation_table.h"
#include "admission/lock_words.h"
#include "admission/settings.h"
#include "base/duration.h"
#include "base/text.h"
#include "core/lease.h"
#include "core/timing_rule.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

constexpr std::string_view kTo = " to ";

// "1 to 200 bytes" -> "1" and "200"; empty if the limits are no range.
struct Ends {
  std::string_view from, to;
};
Ends ends_of(std::string_view limits) {
  const std::size_t at = limits.find(kTo);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = limits.substr(at + kTo.size());
  return {limits.substr(0, at), rest.substr(0, rest.find_first_of(" ,"))};
}

std::string millis(Millis value) { return std::to_string(value.count()); }

struct Limits {
  std::string durations, numbers, texts;
};

void add(std::string& list, std::string_view key, const std::string& from, const std::string& to,
         std::string_view allowed, std::string_view fallback) {
  list += (list.empty() ? "\n  " : ",\n  ") + json_quoted(key) + ": [" + from + ", " + to + ", " +
          json_quoted(allowed) + ", " + json_quoted(fallback) + "]";
}

void add_duration(std::string& list, std::string_view key, std::string_view limits,
                  std::string_view fallback) {
  const Ends ends = ends_of(limits);
  const auto from = parse_duration(ends.from), to = parse_duration(ends.to);
  if (from && to) add(list, key, millis(*from), millis(*to), limits, fallback);
}

void add_option(Limits& limits, const Option& option) {
  const Ends ends = ends_of(option.limits);
  std::visit(
      [&]<class Value>(Value Options::*) {
        constexpr bool is_text = std::is_same_v<Value, std::string>;
        if constexpr (std::is_same_v<Value, Millis> || std::is_same_v<Value, std::optional<Millis>>)
          add_duration(limits.durations, option.key, option.limits, option.fallback);
        else if constexpr (is_text || std::is_same_v<Value, int>)
          // A text whose length is not limited has no range.
          if (!ends.to.empty())
            add(is_text ? limits.texts : limits.numbers, option.key, std::string(ends.from),
                std::string(ends.to), option.limits, option.fallback);
        // The schema lists the words of every other kind.
      },
      option.field);
}

std::string reserved_words() {
  std::string out;
  for (const std::string_view word : op::kYesAndNo)
    out += (out.empty() ? "" : ", ") + json_quoted(word);
  return out;
}

// The terms of plan_timings (core/lease.cc).
std::string timing_rule() {
  const TimingRule& rule = kTimingRule;
  const auto member = [](std::string_view key, std::int64_t value) {
    return json_quoted(key) + ": " + std::to_string(value);
  };
  std::string out;
  for (const auto& [key, value] :
       {std::pair<std::string_view, std::int64_t>{"renewShare", rule.renew_share},
        {"opShare", rule.op_share},
        {"gapShare", rule.gap_share},
        {"marginShare", rule.margin_share},
        {"renewPercent", rule.renew_percent},
        {"longestRenew", rule.longest_renew.count()},
        {"longestOp", rule.longest_op.count()},
        {"leastGap", rule.least_gap.count()},
        {"longestGap", rule.longest_gap.count()},
        {"leastGrace", rule.least_grace.count()},
        {"fixedMargin", lease_margin(Millis(0)).count()},
        {"reap", reap_time(0).count()}})
    out += (out.empty() ? "\n  " : ",\n  ") + member(key, value);
  return out;
}

}  // namespace

std::string chart_limits() {
  Limits limits;
  for (const Option& option : option_table())
    if (option.annotatable() || option.cluster_default) add_option(limits, option);
  const Result<Millis> longest = parse_duration("36500d");
  for (const op::ExtraKey& extra : op::kExtraKeys)
    if (extra.key == "alert-after")
      add(limits.durations, extra.key, millis(op::kLeastAlertAfter), millis(*longest),
          extra.allowed, "");
  std::string settings;
  for (const op::SettingRow& row : op::setting_rows())
    add_duration(settings, row.key, row.limits, row.fallback);
  return R"({{- /* SPDX-License-Identifier: Apache-2.0
Rendered from src/options/option_table.cc, src/admission, src/core/lease.h and src/core/timing_rule.h by `./dev gen`. Do not edit. JSON for
_options_check.tpl: the least and the greatest value (milliseconds, or bytes of a text), what the documents call them, and the
default; the words that are no lock's name; the terms of the rule for timings. */ -}}

{{- define "cronlatch.limits" -}}
{"durations": {)" +
         limits.durations + "},\n\"numbers\": {" + limits.numbers + "},\n\"texts\": {" +
         limits.texts + "},\n\"settings\": {" + settings + "},\n\"reservedLocks\": [" +
         reserved_words() + "],\n\"timings\": {" + timing_rule() + "}}\n{{- end -}}\n";
}

}  // namespace cronlatch::gen
