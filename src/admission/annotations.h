// SPDX-License-Identifier: Apache-2.0
// The annotations cronlatch.dev/...: which keys exist, where they are, and an example of each.
// lock_request.h has what they mean together.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

struct Annotation {
  std::string value;
  std::string where;  // metadata.annotations[cronlatch.dev/ttl]
};
// By key without prefix; without those that the operator writes.
using Annotations = std::map<std::string, Annotation, std::less<>>;

// From the values of one object; `path` is its metadata in the user's manifest
// ("spec.template.metadata").
Annotations read_annotations(const AnnotationValues& values, const std::string& path,
                             Findings& findings);
// The same for the metadata at `at`.
Annotations annotations_at(const kube::Json& object, std::initializer_list<std::string_view> at,
                           const std::string& path, Findings& findings);
// Adds `more` to `all`. The same key with different values is a finding.
void merge(Annotations& all, const Annotations& more, Findings& findings);
// The annotations of the setting `select` for this CronJob.
Annotations selected_annotations(const Settings& settings, const kube::Json& cronjob,
                                 Findings& findings);

// The keys in the value of cronlatch.dev/mirrored ("lock,ttl"), without prefix.
std::vector<std::string> copied_keys(const std::string& value);

// ---- the keys ----
// Whether a tenant may write it.
bool is_annotation(std::string_view key);
// Keys that are not options: lock-scope, once-per-schedule, ...
std::vector<std::string_view> extra_annotations();
// `cronlatch.dev/ttl: "2m"`: always a valid value.
std::string example_of(std::string_view key);
// Adds a finding for each unknown key and for each option that is not an annotation.
void check_keys(const Annotations& annotations, Findings& findings);

}  // namespace cronlatch::op
