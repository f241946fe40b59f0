// SPDX-License-Identifier: Apache-2.0
// The option values in charts/cronlatch/values.schema.json: `runOptions` (cronJobs.<name>.options),
// `allOptions` (defaults) and `annotations` (select[].annotations).
#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "admission/annotation_table.h"
#include "base/text.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

constexpr std::string_view kBoolean =
    R"("type": ["boolean", "string"], "enum": [true, false, "true", "false"])";
// Of `command` and `skip-command`: the text of an array whose first string is not empty.
constexpr std::string_view kJsonStrings =
    R"x("pattern": "^\\s*\\[\\s*\"([^\"\\\\]|\\\\.)+\"(\\s*,\\s*\"([^\"\\\\]|\\\\.)*\")*\\s*\\]\\s*$")x";
constexpr std::string_view kNumber =
    R"("type": ["integer", "string"], "minimum": 0, "pattern": "^0*[0-9]{1,9}$")";
constexpr std::string_view kList =
    R"("type": ["array", "string"], "items": [{"type": "string", "minLength": 1}], )"
    R"("additionalItems": {"type": "string"}, "minItems": 1, )";
// Of a name in Kubernetes.
constexpr std::string_view kName = R"("$ref": "#/definitions/name")";

// The range is checked by templates/_options_check.tpl, the form by the schema. YAML reads 0 as a
// number.
std::string duration_type(const Option& option) {
  const std::string text = R"("$ref": "#/definitions/time")";
  if (option.limits.starts_with("0 "))
    return R"("anyOf": [{"type": "integer", "minimum": 0, "maximum": 0}, {)" + text + "}]";
  return text;
}

std::string text_type(const Option& option) {
  // Printable ASCII without blanks and braces (check_key_prefix).
  if (option.key == "key-prefix") return R"("type": "string", "pattern": "^[!-z|~]+$")";
  // YAML reads a long number as a floating-point one: 20240101 would become 2.0240101e+07.
  return R"("type": "string", "pattern": "^[^\\x00-\\x1f\\x7f]+$")";
}

// One case for each alternative of Field: a new kind of option does not compile without a type.
struct TypeOf {
  const Option& option;

  std::string operator()(std::string Options::*) const { return text_type(option); }
  std::string operator()(Millis Options::*) const { return duration_type(option); }
  std::string operator()(std::optional<Millis> Options::*) const { return duration_type(option); }
  std::string operator()(bool Options::*) const { return std::string(kBoolean); }
  std::string operator()(int Options::*) const { return std::string(kNumber); }
  std::string operator()(std::vector<std::string> Options::*) const {
    return std::string(kList) + std::string(kJsonStrings);
  }
  std::string operator()(StringLists Options::*) const { return R"("type": "string")"; }
  template <class Word>
  requires std::is_enum_v<Word> std::string operator()(Word Options::*) const {
    return R"("type": "string", "enum": [)" + quoted_words(option.limits) + "]";
  }
};

std::string type_of(const Option& option) { return std::visit(TypeOf{option}, option.field); }

// Of an annotation that is not an option.
std::string type_of(const op::ExtraKey& extra) {
  if (extra.key == "once-per-schedule") return std::string(kBoolean);
  if (extra.key == "lock-scope")
    return R"("type": "string", "enum": [)" + quoted_words(extra.allowed) + "]";
  if (extra.key == "command") return R"("type": "string", )" + std::string(kJsonStrings);
  if (extra.key == "alert-after")
    return R"("anyOf": [{"type": "string", "enum": ["off"]}, {"$ref": "#/definitions/time"}])";
  if (extra.key == "container" || extra.key == "store-secret") return std::string(kName);
  return R"("type": "string")";
}

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
  // A lock of the name 2024 or 1.5 may be written without quotes.
  std::string annotations = member("lock", R"("type": ["string", "boolean", "number"])");
  for (const Option& option : option_table()) {
    // The lock is a value of its own.
    const bool is_of_runs = option.annotatable() && option.key != "lock";
    if (!is_of_runs && !option.cluster_default) continue;
    const std::string description =
        json_quoted(std::string(option.help) + ". Allowed: " + std::string(option.limits));
    const std::string schema = "\"description\": " + description + ", " + type_of(option);
    const std::string reference =
        "\"$ref\": \"#/definitions/runOptions/properties/" + std::string(option.key) + "\"";
    if (is_of_runs) {
      of_runs += (of_runs.empty() ? "" : ",\n") + member(option.key, schema);
      annotations += ",\n" + member(option.key, reference);
    }
    if (!option.cluster_default) continue;
    of_all += (of_all.empty() ? "" : ",\n") + member(option.key, is_of_runs ? reference : schema);
  }
  for (const op::ExtraKey& extra : op::kExtraKeys)
    annotations += ",\n" + member(extra.key, type_of(extra));
  return definition("Options that may differ between runs. Rendered by ./dev gen; do not edit.",
                    of_runs) +
         "    \"allOptions\": {\n" +
         definition(
             "Options of runs, and options of the platform. Rendered by ./dev gen; do not edit.",
             of_all) +
         "    \"annotations\": {\n" +
         definition("Annotations, without the prefix. Rendered by ./dev gen; do not edit.",
                    annotations);
}

}  // namespace cronlatch::gen
