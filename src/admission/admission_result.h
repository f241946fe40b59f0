// SPDX-License-Identifier: Apache-2.0
// What an admission decides, before it is put into an AdmissionReview; and who decides it.
#pragma once

#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

struct AdmissionResult {
  enum class Kind { allowed, denied, error };
  Kind kind = Kind::allowed;
  kube::Json patch = kube::Json::array();  // JSON patch; empty: as it is
  std::vector<std::string> warnings;
  std::string message;  // of a denial or an error
};

// What of a request matters. `object` has its namespace filled in.
// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and throws nothing
struct Admission {
  kube::Json object;
  const kube::Json* before = nullptr;  // of an update
  std::string operation;               // CREATE, UPDATE, ...
  std::string namespace_name;
};

// Both leave `object` as it would be after the patch, or nearly so.
AdmissionResult admit_cronjob(Admission& request, const Settings& settings,
                              const EntrypointSource& images);
AdmissionResult admit_job(Admission& request, const Settings& settings,
                          const EntrypointSource& images);

}  // namespace cronlatch::op
