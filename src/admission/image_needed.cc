// SPDX-License-Identifier: Apache-2.0
// Runs the rewrite with a source that records the query, so that only the rewrite decides when it
// needs an image.
#include "admission/image_needed.h"

#include "admission/job_admission.h"

namespace cronlatch::op {
namespace {

using kube::Json;

class RecordingSource final : public EntrypointSource {
 public:
  EntrypointResult find(const EntrypointQuery& query) const override {
    Json placement = Json::object();
    for (const char* key :
         {"nodeSelector", "affinity", "imagePullSecrets", "serviceAccountName", "serviceAccount"})
      if (const Json* const there = kube::find(query.pod_spec, {key})) placement[key] = *there;
    recorded_ = NeededImage{query.image, std::move(placement)};
    return UnknownEntrypoint{};
  }
  std::optional<NeededImage> take() { return std::move(recorded_); }

 private:
  mutable std::optional<NeededImage> recorded_;
};

}  // namespace

std::optional<NeededImage> image_needed(const Json& cronjob, const Settings& settings) {
  const Json* const job_template = kube::find(cronjob, {"spec", "jobTemplate"});
  if (job_template == nullptr || !job_template->is_object()) return std::nullopt;
  Json job = *job_template;
  JobOrigin origin{"spec.jobTemplate.", kube::string_at(cronjob, {"metadata", "namespace"}),
                   kube::string_at(cronjob, {"metadata", "name"})};
  RecordingSource source;
  Findings findings;
  (void)rewrite_job(job, std::move(origin), settings, source, findings);
  return source.take();
}

}  // namespace cronlatch::op
