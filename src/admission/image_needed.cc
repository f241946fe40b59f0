// SPDX-License-Identifier: Apache-2.0
// Asks the rewrite itself, so that nobody has to know twice when it needs an image.
#include "admission/image_needed.h"

#include "admission/job_admission.h"
#include "admission/job_view.h"

namespace cronlatch::op {
namespace {

using kube::Json;

class Noting final : public EntrypointSource {
 public:
  EntrypointResult find(const EntrypointQuery& use) const override {
    Json placement = Json::object();
    for (const char* key : {"nodeSelector", "affinity", "imagePullSecrets"})
      if (const Json* const there = kube::find(use.pod_spec, {key})) placement[key] = *there;
    noted_ = NeededImage{use.image, std::move(placement)};
    return UnknownEntrypoint{};
  }
  std::optional<NeededImage> take() { return std::move(noted_); }

 private:
  mutable std::optional<NeededImage> noted_;
};

}  // namespace

std::optional<NeededImage> image_needed(const Json& cronjob, const Settings& settings) {
  const Json* const job_template = kube::find(cronjob, {"spec", "jobTemplate"});
  if (job_template == nullptr || !job_template->is_object()) return std::nullopt;
  Json job = *job_template;
  const Workload workload{&job, "spec.jobTemplate.",
                          kube::string_at(cronjob, {"metadata", "namespace"}),
                          kube::string_at(cronjob, {"metadata", "name"})};
  Noting noting;
  (void)gate(workload, settings, noting);
  return noting.take();
}

}  // namespace cronlatch::op
