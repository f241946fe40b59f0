// SPDX-License-Identifier: Apache-2.0
// The option values in charts/cronlatch/values.schema.json: `runOptions` (cronJobs.<name>.options)
// and `allOptions` (defaults).
#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "base/overloaded.h"
#include "base/text.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

// The operator checks the range; the schema checks the form. YAML reads 0 as a number.
std::string duration_type(const Option& option) {
  const std::string text = R"("pattern": "^(0|([0-9]+(ms|[smhd]))+)$")";
  if (option.limits.starts_with("0 "))
    return R"("type": ["string", "integer"], "minimum": 0, "maximum": 0, )" + text;
  return R"("type": "string", )" + text;
}

// One case for each alternative of Field: a new kind of option does not compile without a type.
std::string type_of(const Option& option) {
  return std::visit(
      Overloaded{
          // YAML reads a long number as a floating-point one: 20240101 would become 2.0240101e+07.
          [](std::string Options::*) {
    return std::string(R"("type": "string")");
          },
          [&](Millis Options::*) {
    return duration_type(option); },
          [&](std::optional<Millis> Options::*) {
    return duration_type(option); },
          [](bool Options::*) {
    return std::string(R"("type": ["boolean", "string"], "enum": [true, false, "true", "false"])");
          },
          [](int Options::*) {
    return std::string(R"("type": ["integer", "string"])"); },
          [](std::vector<std::string> Options::*) {
    return std::string(
        R"("type": ["array", "string"], "items": {"type": "string"}, "minItems": 1)");
          },
          [](StringLists Options::*) {
    return std::string(R"("type": "string")"); },
          [&]<class Word>(Word Options::*) requires std::is_enum_v<Word> {
            return R"("type": "string", "enum": [)" + quoted_words(option.limits) + "]";
}
}  // namespace
,
      option.field);
}  // namespace cronlatch::gen

std::string member(std::string_view key, const std::string& schema) {
  return "        " + json_quoted(key) + ": {" + schema + "}";
}

std::string definition(std::string_view comment, const std::string& properties) {
  return "      \"$comment\": " + json_quoted(comment) +
         ",\n      \"type\": \"object\",\n      \"additionalProperties\": false,\n"
         "      \"properties\": {\n" +
         properties + "\n      }\n    },\n";
}

}  // namespace

std::string quoted_words(std::string_view limits) {
  std::string out;
  while (!limits.empty()) {
    const std::size_t end = std::min(limits.find(", "), limits.size());
    out += (out.empty() ? "" : ", ") + json_quoted(limits.substr(0, end));
    limits.remove_prefix(std::min(end + 2, limits.size()));
  }
  return out;
}

std::string chart_options() {
  std::string of_runs, of_all;
  for (const Option& option : option_table()) {
    // The lock is a value of its own.
    const bool is_of_runs = option.annotatable() && option.key != "lock";
    if (!is_of_runs && !option.cluster_default) continue;
    const std::string description =
        json_quoted(std::string(option.help) + ". Allowed: " + std::string(option.limits));
    const std::string schema = "\"description\": " + description + ", " + type_of(option);
    if (is_of_runs) of_runs += (of_runs.empty() ? "" : ",\n") + member(option.key, schema);
    if (!option.cluster_default) continue;
    const std::string reference =
        "\"$ref\": \"#/definitions/runOptions/properties/" + std::string(option.key) + "\"";
    of_all += (of_all.empty() ? "" : ",\n") + member(option.key, is_of_runs ? reference : schema);
  }
  return definition("Options that may differ between runs. Rendered by ./dev gen; do not edit.",
                    of_runs) +
         "    \"allOptions\": {\n" +
         definition(
             "Options of runs, and options of the platform. Rendered by ./dev gen; do not edit.",
             of_all);
}

}  // namespace cronlatch::gen
