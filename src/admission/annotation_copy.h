// SPDX-License-Identifier: Apache-2.0
// Kubernetes copies only spec.jobTemplate.metadata.annotations to a CronJob's Jobs, so what stands
// on the CronJob, on its pod template or in the platform's `select` is mirrored to there. Pure. The
// admission hook does it as a JSON patch, the reconciler by server-side apply; both ask here what
// is right.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "admission/settings.h"
#include "base/result.h"
#include "kube/json.h"

namespace cronlatch::op {

struct AnnotationCopy {
  bool gated = false;  // there is a lock, and it is not "false"
  // Everything of ours that spec.jobTemplate.metadata.annotations must hold, the key above
  // included. Empty where the user wrote all of it there. Keys with prefix.
  std::map<std::string, std::string> wanted;
  std::map<std::string, std::string> set;  // what of `wanted` is missing or stale
  std::vector<std::string> remove;         // copies whose source is gone
  std::vector<std::string> warnings;       // for people, each one sentence

  bool in_order() const { return set.empty() && remove.empty(); }
};

// `before` is the object that an update replaces, where there is one. The error says every
// annotation that is wrong: where it stands, what is wrong, what would be right.
Result<AnnotationCopy> annotation_copy(const kube::Json& cronjob, const kube::Json* before,
                                       const Settings& settings);

}  // namespace cronlatch::op
