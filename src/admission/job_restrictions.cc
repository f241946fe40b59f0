// SPDX-License-Identifier: Apache-2.0
#include "admission/job_restrictions.h"

#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

void refuse_parallel(const Workload& workload, Findings& findings) {
  const std::string why = "runs of one Job would wait for each other's lock";
  const auto parallelism = kube::number_at(*workload.job, {"spec", "parallelism"});
  if (parallelism && *parallelism > 1)
    findings.add(workload.path + "spec.parallelism", std::to_string(*parallelism) + ": " + why,
                 "write parallelism: 1");
  const auto completions = kube::number_at(*workload.job, {"spec", "completions"});
  if (completions && *completions > 1)
    findings.add(workload.path + "spec.completions", std::to_string(*completions) + ": " + why,
                 "write completions: 1");
}

void refuse_windows(const Workload& workload, Findings& findings) {
  const std::string why = "the wrapper is a Linux program";
  const std::string pod = workload.path + "spec.template.spec.";
  if (kube::string_at(workload.pod_spec(), {"os", "name"}) == "windows")
    findings.add(pod + "os.name", "windows: " + why, "leave cronlatch.dev/lock out");
  if (kube::string_at(workload.pod_spec(), {"nodeSelector", "kubernetes.io/os"}) == "windows")
    findings.add(pod + "nodeSelector[kubernetes.io/os]", "windows: " + why,
                 "leave cronlatch.dev/lock out");
}

// Our names in a pod that mean something else there.
void refuse_taken_names(const Workload& workload, std::size_t container, Findings& findings) {
  const auto& volumes = kube::items_at(workload.pod_spec(), {"volumes"});
  const auto taken = [&](std::string_view name, const char* kind) {
    const auto at = index_of_name(volumes, name);
    if (at && kube::find(volumes[*at], {kind}) == nullptr)
      findings.add(workload.path + "spec.template.spec.volumes[" + std::to_string(*at) + "].name",
                   std::string(name) + " is the name of a volume that is added",
                   "choose another name");
  };
  taken(kBinVolume, "emptyDir");
  taken(kStoreVolume, "secret");
  const auto& mounts = kube::items_at(
      kube::items_at(workload.pod_spec(), {"containers"})[container], {"volumeMounts"});
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string path = kube::string_at(mounts[i], {"mountPath"});
    const std::string name = kube::string_at(mounts[i], {"name"});
    const bool ours = path == kBinDirectory     ? name == kBinVolume
                      : path == kStoreDirectory ? name == kStoreVolume
                                                : true;
    if (!ours)
      findings.add(
          workload.container_path(container) + ".volumeMounts[" + std::to_string(i) + "].mountPath",
          path + " is where a volume is added", "mount yours elsewhere");
  }
}

void refuse_long_wait(const Workload& workload, const LockRequest& request, Findings& findings) {
  const std::optional<Millis> deadline = active_deadline(*workload.job);
  if (!deadline || request.annotated.count("wait-timeout") == 0) return;
  if (request.options.wait_timeout < *deadline) return;
  findings.add(workload.path + "spec.activeDeadlineSeconds",
               "the Job is ended after " + show_duration(*deadline) + ", waiting included, but " +
                   "cronlatch.dev/wait-timeout is " + show_duration(request.options.wait_timeout),
               "write for example cronlatch.dev/wait-timeout: \"" +
                   show_duration(wait_within(*deadline)) + "\"");
}

}  // namespace

void refuse_shapes(const Workload& workload, std::size_t container, const LockRequest& request,
                   Findings& findings) {
  refuse_parallel(workload, findings);
  refuse_windows(workload, findings);
  refuse_taken_names(workload, container, findings);
  refuse_long_wait(workload, request, findings);
  const Json& it = kube::items_at(workload.pod_spec(), {"containers"})[container];
  const Json* const post_start = kube::find(it, {"lifecycle", "postStart"});
  if (post_start != nullptr && !post_start->is_null())
    findings.add(workload.container_path(container) + ".lifecycle.postStart",
                 "it would run before the lock is taken",
                 "do its work at the beginning of the command");
  if (kube::is_true(*workload.job, {"spec", "manualSelector"}))
    findings.add(workload.path + "spec.manualSelector",
                 "pods would not carry their Job's uid, by which a retry is told from a rival",
                 "leave manualSelector and selector out");
}

std::optional<Millis> active_deadline(const Json& job) {
  std::optional<Millis> shortest;
  for (const auto& seconds :
       {kube::number_at(job, {"spec", "activeDeadlineSeconds"}),
        kube::number_at(job, {"spec", "template", "spec", "activeDeadlineSeconds"})}) {
    constexpr std::int64_t kLongest = 3'155'760'000;  // 100 years
    if (!seconds || *seconds < 0 || *seconds > kLongest) continue;
    const Millis deadline{*seconds * 1000};
    if (!shortest || deadline < *shortest) shortest = deadline;
  }
  return shortest;
}

Millis wait_within(Millis deadline) {
  constexpr Millis kSecond{1'000};
  const Millis half = deadline / 2;
  return half < kSecond ? half : half / kSecond * kSecond;  // whole seconds read better
}

}  // namespace cronlatch::op
