// SPDX-License-Identifier: Apache-2.0
#include "admission/job_view.h"

namespace cronlatch::op {
using kube::Json;

const Json& Workload::pod_spec() const {
  static const Json kNone = Json::object();
  const Json* const spec = kube::find(*job, {"spec", "template", "spec"});
  return spec != nullptr && spec->is_object() ? *spec : kNone;
}

std::string Workload::container_path(std::size_t index) const {
  return path + "spec.template.spec.containers[" + std::to_string(index) + "]";
}

std::string owning_cronjob(const Json& job) {
  for (const Json& owner : kube::items_at(job, {"metadata", "ownerReferences"}))
    if (kube::string_at(owner, {"kind"}) == "CronJob" &&
        kube::string_at(owner, {"apiVersion"}).starts_with("batch/"))
      return kube::string_at(owner, {"name"});
  return "";
}

std::optional<std::size_t> index_of_name(const std::vector<Json>& items, std::string_view name) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (kube::string_at(items[i], {"name"}) == name) return i;
  return std::nullopt;
}

}  // namespace cronlatch::op
