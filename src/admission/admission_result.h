// SPDX-License-Identifier: Apache-2.0
// The decision about one admission request, before it becomes an AdmissionReview.
#pragma once

#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/findings.h"
#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

struct AdmissionResult {
  enum class Kind { allowed, denied, error };
  Kind kind = Kind::allowed;
  kube::Json patch = kube::Json::array();  // JSON patch; empty: the object is not changed
  std::vector<Finding> warnings;
  std::vector<Finding> refusals;  // the reasons of a denial
  std::string message;            // of a denial or an error
};

inline AdmissionResult denied(const Findings& findings) {
  AdmissionResult result;
  result.kind = AdmissionResult::Kind::denied;
  result.refusals = findings.list();
  result.message = findings.error().message;
  return result;
}

// The request. `object` has its namespace set.
// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
struct AdmissionRequest {
  kube::Json object;
  const kube::Json* before = nullptr;  // UPDATE: the object as it was
  std::string operation;               // CREATE, UPDATE, ...
  std::string namespace_name;
};

// Both may apply the patch to `object`.
AdmissionResult admit_cronjob(AdmissionRequest& request, const Settings& settings,
                              const EntrypointSource& images);
AdmissionResult admit_job(AdmissionRequest& request, const Settings& settings,
                          const EntrypointSource& images);

}  // namespace cronlatch::op
