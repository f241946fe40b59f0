// SPDX-License-Identifier: Apache-2.0
#include "admission/job_warnings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using Warnings = std::vector<std::string>;

// Exit codes that are the wrapper's own word, not the command's.
struct OwnCode {
  int code;
  const char* says;
};
constexpr std::array<OwnCode, 7> kOwnCodes = {{{0, "the run was skipped"},
                                               {69, "the store is away"},
                                               {75, "the lock is busy"},
                                               {77, "the store refuses us"},
                                               {78, "a wrong configuration"},
                                               {79, "the lease was lost"},
                                               {124, "max-run has passed"}}};

// "redis://cache:6379/0" -> "cache". Good enough to warn by.
std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?,"));
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos)
    url.remove_prefix(at + 1);
  if (url.starts_with("[")) return std::string(url);
  return std::string(url.substr(0, url.find(':')));
}

// A name that only the cluster's DNS knows.
bool is_service_name(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  if (host.empty() || host.starts_with("[")) return false;
  return host.find('.') == std::string::npos || host.ends_with(".svc") ||
         host.ends_with(".svc.cluster.local") || std::count(host.begin(), host.end(), '.') == 1;
}

void warn_of_network(const Workload& workload, const Settings& settings,
                     std::vector<std::string>& warnings) {
  const Json& pod = workload.pod_spec();
  const std::string policy = kube::string_at(pod, {"dnsPolicy"});
  const std::string host = host_of(settings.store);
  if (!kube::is_true(pod, {"hostNetwork"}) || (!policy.empty() && policy != "ClusterFirst")) return;
  if (!is_service_name(host)) return;
  warnings.push_back(workload.path +
                     "spec.template.spec.hostNetwork: a pod on the host's network " +
                     "does not find the store " + printable(host, 80) +
                     "; write dnsPolicy: ClusterFirstWithHostNet");
}

// Would the rule start the container again after this code?
bool restarts_after(const Json& rule, int code) {
  if (!kube::string_at(rule, {"action"}).starts_with("Restart")) return false;
  const auto& values = kube::items_at(rule, {"exitCodes", "values"});
  const bool listed = std::find(values.begin(), values.end(), code) != values.end();
  const std::string how = kube::string_at(rule, {"exitCodes", "operator"});
  return how == "In" ? listed : how == "NotIn" && !listed;
}

void warn_of_restarts(const Workload& workload, std::size_t container, Warnings& warnings) {
  const Json& it = kube::items_at(workload.pod_spec(), {"containers"})[container];
  const auto& rules = kube::items_at(it, {"restartPolicyRules"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto own = std::find_if(kOwnCodes.begin(), kOwnCodes.end(), [&](const OwnCode& known) {
      return restarts_after(rules[i], known.code);
    });
    if (own == kOwnCodes.end()) continue;
    warnings.push_back(workload.container_path(container) + ".restartPolicyRules[" +
                       std::to_string(i) + "]: starts the container again also after exit code " +
                       std::to_string(own->code) + ", by which the gate says: " + own->says +
                       "; it may go round for ever");
    return;
  }
}

void warn_of_probes(const Workload& workload, std::size_t container, Warnings& warnings) {
  const Json& it = kube::items_at(workload.pod_spec(), {"containers"})[container];
  for (const char* const probe : {"livenessProbe", "startupProbe"}) {
    const Json* const there = kube::find(it, {probe});
    if (there != nullptr && there->is_object())
      warnings.push_back(
          workload.container_path(container) + "." + probe +
          ": it also probes while the container waits for its lock, and may kill it");
  }
}

// What of the pod runs without the lock.
void warn_of_neighbours(const Workload& workload, Warnings& warnings) {
  if (kube::items_at(workload.pod_spec(), {"containers"}).size() > 1)
    warnings.push_back(workload.path +
                       "spec.template.spec.containers: the others run ungated, and "
                       "go on after a skip; make them native sidecars, or tell them to stop by "
                       "cronlatch.dev/skip-command");
  std::string before;
  for (const Json& init : kube::items_at(workload.pod_spec(), {"initContainers"})) {
    const std::string name = kube::string_at(init, {"name"});
    if (name == kInstallContainer || kube::string_at(init, {"restartPolicy"}) == "Always") continue;
    before += (before.empty() ? "" : ", ") + printable(name, 63);
  }
  if (!before.empty())
    warnings.push_back(workload.path + "spec.template.spec.initContainers: " + before +
                       ": what runs there runs before the lock is taken");
}

// A skipped run is Complete like any other: only its pod tells.
void warn_of_short_memory(const Workload& workload, Warnings& warnings) {
  if (kube::number_at(*workload.job, {"spec", "ttlSecondsAfterFinished"}) == 0)
    warnings.push_back(workload.path +
                       "spec.ttlSecondsAfterFinished: 0 takes the pod away at once, and with it "
                       "the word whether the run was skipped; write for example 3600");
}

}  // namespace

Warnings warnings_for(const Workload& workload, std::size_t container, const Settings& settings) {
  Warnings warnings;
  warn_of_probes(workload, container, warnings);
  warn_of_restarts(workload, container, warnings);
  warn_of_neighbours(workload, warnings);
  warn_of_network(workload, settings, warnings);
  warn_of_short_memory(workload, warnings);
  return warnings;
}

Warnings history_warnings(const Json& cronjob) {
  Warnings warnings;
  for (const char* const limit : {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    if (kube::number_at(cronjob, {"spec", limit}) == 0)
      warnings.push_back(std::string("spec.") + limit +
                         ": 0 takes a Job away as soon as it has ended, and with it the word " +
                         "why; write 1 or more");
  return warnings;
}

}  // namespace cronlatch::op
