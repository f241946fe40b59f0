// SPDX-License-Identifier: Apache-2.0
// The operator's two answers to the API server: an AdmissionReview as text in, one as text out.
// Pure but for what is asked about images: no I/O, no clock, no side effect, so a dry run is
// answered like any other. The HTTP server calls it; nothing here knows of HTTP.
#pragma once

#include <string>
#include <string_view>

#include "admission/entrypoint.h"
#include "admission/settings.h"

namespace cronlatch::op {

struct ReviewResponse {
  // Always an AdmissionReview v1 in valid JSON, with the uid of the request where it has one.
  std::string body;
  std::string_view resource;  // "cronjob" or "job"
  // "mutated" (allowed, with a patch), "skipped" (allowed as it is), "denied" (somebody must change
  // the object, or give the operator a store), "error" (what came was no review).
  std::string_view result;
};

// Any thread may call these, several at once. They never throw.
ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings,
                              const EntrypointSource& images);
ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings,
                          const EntrypointSource& images);
// With the settings' image index alone.
ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings);
ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings);

}  // namespace cronlatch::op
