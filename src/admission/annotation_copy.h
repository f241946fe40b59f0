// SPDX-License-Identifier: Apache-2.0
// Kubernetes copies only spec.jobTemplate.metadata.annotations to a CronJob's Jobs. So annotations
// of the CronJob, of its pod template and of the setting `select` are copied to there: by the
// admission hook as a JSON patch, by the reconciler with server-side apply. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "admission/annotations.h"
#include "admission/findings.h"
#include "admission/settings.h"
#include "base/result.h"
#include "kube/json.h"

namespace cronlatch::op {

struct AnnotationCopy {
  bool gated = false;  // there is a lock, and it is not "false"
  // The copies that spec.jobTemplate.metadata.annotations must have, and cronlatch.dev/mirrored.
  // Empty where the user wrote all annotations there. Names with prefix.
  std::map<std::string, std::string> wanted;
  std::map<std::string, std::string> set;  // those of `wanted` that are missing or different
  std::vector<std::string> remove;         // copies without a source
  std::vector<Finding> warnings;           // shown by kubectl
  // All annotations that the Jobs will have, each with the place where the user wrote it.
  Annotations annotations;

  bool is_up_to_date() const { return set.empty() && remove.empty(); }
};

// `before` is the object that an update replaces; nullptr: none. Adds a finding for every invalid
// annotation; then only `gated`, `annotations` and the warnings of the result are valid.
AnnotationCopy plan_annotation_copy(const kube::Json& cronjob, const kube::Json* before,
                                    const Settings& settings, Findings& findings);
// The same with all findings as one error.
Result<AnnotationCopy> plan_annotation_copy(const kube::Json& cronjob, const kube::Json* before,
                                            const Settings& settings);

}  // namespace cronlatch::op
