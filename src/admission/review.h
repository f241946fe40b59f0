// SPDX-License-Identifier: Apache-2.0
// The operator's two admission hooks: an AdmissionReview as text in, one as text out. No I/O, clock
// or side effect except those of `images`, so a dry run is handled like any other request.
#pragma once

#include <string>
#include <string_view>

#include "admission/entrypoint.h"
#include "admission/settings.h"

namespace cronlatch::op {

struct ReviewResponse {
  // Always an AdmissionReview v1 in valid JSON, with the request's uid if it has one.
  std::string body;
  std::string_view resource;  // "cronjob" or "job"
  // "mutated" (allowed, with a patch), "skipped" (allowed without a patch), "denied" (the object
  // has an error, or the operator has no store), "error" (the request is not an AdmissionReview).
  std::string_view result;
};

// Thread rule: any thread. They never throw.
ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings,
                              const EntrypointSource& images);
ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings,
                          const EntrypointSource& images);
// With the setting image-index as the only source.
ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings);
ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings);

}  // namespace cronlatch::op
