// SPDX-License-Identifier: Apache-2.0
// The annotations cronlatch.dev/...: which keys exist, where they stand, what a right one looks
// like. What they mean together is in wishes.h.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "admission/findings.h"
#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

struct Annotation {
  std::string value;
  std::string where;  // metadata.annotations[cronlatch.dev/ttl]
};
// By key without prefix; what we write ourselves is left out.
using Annotations = std::map<std::string, Annotation, std::less<>>;

// The annotations of one object; `path` is how people find it ("spec.template.metadata").
Annotations annotations_at(const kube::Json& object, std::initializer_list<std::string_view> at,
                           const std::string& path, Findings& findings);
// Adds `more` to `all`; a key with another value there is a finding.
void merge(Annotations& all, const Annotations& more, Findings& findings);
// What the platform decided for this CronJob in `select`.
Annotations selected(const Settings& settings, const kube::Json& cronjob, Findings& findings);

// The keys below that one of our own marks lists ("lock,ttl"), without prefix.
std::vector<std::string> listed_keys(const std::string& mark);

// ---- the keys ----
// May a tenant write it?
bool is_annotation(std::string_view key);
// Keys that are no options: lock-scope, once-per-schedule, ...
std::vector<std::string_view> extra_annotations();
// `cronlatch.dev/ttl: "2m"`: always one that is accepted.
std::string example_of(std::string_view key);
// "unknown annotation; did you mean cronlatch.dev/ttl?", or why an option is no annotation.
void find_unknown(const Annotations& annotations, Findings& findings);

}  // namespace cronlatch::op
