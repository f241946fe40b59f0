// SPDX-License-Identifier: Apache-2.0
// charts/cronlatch/templates/_cel_options.tpl: what the policy that gates Jobs repeats of the
// option table, because the API server cannot read it.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "base/duration.h"
#include "base/text.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

// "5s to 1h" -> "[5, 3600]". The policy reads whole seconds, and leaves a zero to the operator.
std::string seconds(std::string_view limits) {
  const std::size_t to = limits.find(" to ");
  const auto from = parse_duration(limits.substr(0, to)),
             most = parse_duration(limits.substr(to + 4));
  if (!from || !most) return "[]";  // OptionTable.GivesRangesToNumbersAndDurations
  const auto least = std::max<Millis::rep>((from->count() + 999) / 1000, 1);
  return "[" + std::to_string(least) + ", " + std::to_string(most->count() / 1000) + "]";
}

// "1 to 1000" -> "[1, 1000]"
std::string numbers(std::string_view limits) {
  const std::size_t to = limits.find(" to ");
  return "[" + std::string(limits.substr(0, to)) + ", " + std::string(limits.substr(to + 4)) + "]";
}

struct Members {
  std::string durations, numbers, words, flags;
};

void add(std::string& list, const std::string& member) {
  list += (list.empty() ? "\n  " : ",\n  ") + member;
}

void add_annotation(Members& members, const Option& option) {
  const std::string key = json_quoted(option.key) + ": ";
  std::visit(
      [&]<class Value>(Value Options::*) {
        if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>)
          add(members.words, key + "[" + quoted_words(option.limits) + "]");
        else if constexpr (std::is_same_v<Value, int>)
          add(members.numbers, key + numbers(option.limits));
        else if constexpr (std::is_same_v<Value, Millis> ||
                           std::is_same_v<Value, std::optional<Millis>>)
          add(members.durations, key + seconds(option.limits));
        // The policy leaves a Job with any other kind of annotation to the operator.
      },
      option.field);
}

}  // namespace

std::string policy_options() {
  Members members;
  for (const Option& option : option_table()) {
    if (option.annotatable()) add_annotation(members, option);
    add(members.flags, json_quoted(option.key));
  }
  return R"({{- /* SPDX-License-Identifier: Apache-2.0
Rendered from src/options/option_table.cc by `./dev gen`. Do not edit. JSON for _cel_gate.tpl: the options that may be
annotations, with their ranges (durations in seconds) or words, and all options in the order of the wrapper's flags. */ -}}

{{- define "cronlatch.cel.options" -}}
{"durations": {)" +
         members.durations + "},\n\"numbers\": {" + members.numbers + "},\n\"words\": {" +
         members.words + "},\n\"flags\": [" + members.flags + "]}\n{{- end -}}\n";
}

}  // namespace cronlatch::gen
