// SPDX-License-Identifier: Apache-2.0
#include "admission/annotations.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "admission/annotation_table.h"
#include "base/text.h"
#include "labels/names.h"
#include "options/options.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// Written by the operator and the chart's policies: ignored when they are read. The chart has the
// same list (cronlatch.cel.ofOperator).
constexpr std::array<std::string_view, 4> kWrittenByOperator = {
    kInjectedAnnotation, kCopiedKeysAnnotation, kCommandFromAnnotation, kGatedByPolicyAnnotation};

std::string with_prefix(std::string_view key) { return std::string(kPrefix) + std::string(key); }

std::string value_example(std::string_view key) {
  for (const ExtraKey& extra : kExtraKeys)
    if (extra.key == key) return std::string(extra.example);
  const Option* const option = find_option(key);
  return option == nullptr ? "" : std::string(option->annotation.example);
}

std::string_view nearest_annotation(std::string_view wrong) {
  std::string_view best;
  std::size_t best_distance = (std::min<std::size_t>(wrong.size(), 100) + 2) / 3 + 1;
  const auto consider = [&](std::string_view key) {
    const std::size_t distance = edit_distance(wrong.substr(0, 100), key);
    if (distance >= best_distance) return;
    best = key;
    best_distance = distance;
  };
  for (const Option& option : option_table())
    if (option.annotatable()) consider(option.key);
  for (const ExtraKey& extra : kExtraKeys) consider(extra.key);
  return best;
}

// The name. With generateName, a name of the same length: the API server appends five characters.
std::string name_of(const Json& cronjob) {
  const std::string name = kube::string_at(cronjob, {"metadata", "name"});
  const std::string prefix = kube::string_at(cronjob, {"metadata", "generateName"});
  return name.empty() && !prefix.empty() ? prefix + "xxxxx" : name;
}

bool matches(const Selection& selection, const Json& cronjob) {
  const Json* const labels = kube::find(cronjob, {"metadata", "labels"});
  if (selection.namespace_name != kube::string_at(cronjob, {"metadata", "namespace"})) return false;
  const std::string name = name_of(cronjob);
  if (!selection.name.empty() && fnmatch(selection.name.c_str(), name.c_str(), 0) != 0)
    return false;
  return std::all_of(selection.labels.begin(), selection.labels.end(), [&](const auto& required) {
    const Json* const label = labels == nullptr ? nullptr : kube::find(*labels, {required.first});
    return label != nullptr && label->is_string() && *label == required.second;
  });
}

}  // namespace

Annotations read_annotations(const AnnotationValues& values, const std::string& path,
                             Findings& findings) {
  Annotations annotations;
  for (const auto& [name, value] : values) {
    const std::string key = name.substr(kPrefix.size());
    if (std::find(kWrittenByOperator.begin(), kWrittenByOperator.end(), name) !=
        kWrittenByOperator.end())
      continue;
    const std::string where = path + ".annotations[" + printable(name, 80) + "]";
    if (value)
      annotations[key] = {*value, where};
    else
      findings.add(where, "the value is not a string", "write " + example_of(key));
  }
  return annotations;
}

Annotations annotations_at(const Json& object, std::initializer_list<std::string_view> at,
                           const std::string& path, Findings& findings) {
  return read_annotations(annotation_values(object, at), path, findings);
}

void merge(Annotations& all, const Annotations& more, Findings& findings) {
  for (const auto& [key, annotation] : more) {
    const auto [there, is_new] = all.try_emplace(key, annotation);
    if (!is_new && there->second.value != annotation.value)
      findings.add(
          annotation.where, "the value differs from " + there->second.where,
          "remove one of the two",
          cronlatch::quoted(annotation.value) + " and " + cronlatch::quoted(there->second.value));
  }
}

Annotations selected_annotations(const Settings& settings, const Json& cronjob,
                                 Findings& findings) {
  Annotations all;
  for (std::size_t i = 0; i < settings.select.size(); ++i) {
    if (!matches(settings.select[i], cronjob)) continue;
    Annotations these;
    for (const auto& [key, value] : settings.select[i].annotations)
      these[key] = {value, "select[" + std::to_string(i) + "].annotations[" + key +
                               "] of the operator's settings"};
    merge(all, these, findings);
  }
  return all;
}

std::vector<std::string> copied_keys(const std::string& value) {
  std::vector<std::string> keys;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) keys.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return keys;
}

bool is_annotation(std::string_view key) {
  const Option* const option = find_option(key);
  if (option != nullptr) return option->annotatable();
  return std::any_of(std::begin(kExtraKeys), std::end(kExtraKeys),
                     [&](const ExtraKey& extra) { return extra.key == key; });
}

std::vector<std::string_view> extra_annotations() {
  std::vector<std::string_view> keys;
  for (const ExtraKey& extra : kExtraKeys) keys.push_back(extra.key);
  return keys;
}

std::string example_of(std::string_view key) {
  const std::string value = value_example(key);
  if (value.empty()) return "cronlatch.dev/lock: \"true\"";
  // YAML: a value with double quotes is written in single quotes.
  const char quote = value.find('"') == std::string::npos ? '"' : '\'';
  return with_prefix(key) + ": " + quote + value + quote;
}

void check_keys(const Annotations& annotations, Findings& findings) {
  for (const auto& [key, annotation] : annotations) {
    if (is_annotation(key)) continue;
    if (find_option(key) != nullptr) {
      findings.add(annotation.where, "the operator sets this option, an annotation cannot",
                   "remove it");
      continue;
    }
    const std::string_view near = nearest_annotation(key);
    findings.add(annotation.where, "unknown annotation",
                 near.empty() ? "write for example " + example_of("lock")
                              : "did you mean " + example_of(near) + "?");
  }
}

}  // namespace cronlatch::op
