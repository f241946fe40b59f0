// SPDX-License-Identifier: Apache-2.0
#include "admission/job_warnings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/store_url.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using Warnings = std::vector<std::string>;

// Exit codes of the wrapper itself, not of the command.
struct OwnExitCode {
  int code;
  const char* meaning;
};
constexpr std::array<OwnExitCode, 7> kOwnExitCodes = {{{0, "the run was skipped"},
                                                       {69, "the store is unavailable"},
                                                       {75, "the lock is busy"},
                                                       {77, "the store denied access"},
                                                       {78, "the configuration is invalid"},
                                                       {79, "the lease was lost"},
                                                       {124, "max-run has passed"}}};

// A name that only the cluster's DNS resolves, and no address.
bool is_service_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.find(':') != std::string_view::npos) return false;
  return host.find('.') == std::string_view::npos || host.ends_with(".svc") ||
         host.ends_with(".svc.cluster.local") || std::count(host.begin(), host.end(), '.') == 1;
}

std::vector<std::string> hosts_of(const StoreUrl& store) {
  std::vector<std::string> hosts;
  if (store.postgres)
    for (const PostgresTarget::Host& each : store.postgres->hosts) hosts.push_back(each.host);
  for (const StoreHost& each : store.hosts) hosts.push_back(each.host);
  return hosts.empty() ? std::vector{store.host} : hosts;
}

void add_network(const JobView& job, const Settings& settings, Warnings& warnings) {
  const bool uses_host_dns =
      job.host_network && (job.dns_policy.empty() || job.dns_policy == "ClusterFirst");
  const Result<StoreUrl> store = parse_store_url(settings.store);
  if (!uses_host_dns || !store) return;
  const std::vector<std::string> hosts = hosts_of(*store);
  const auto unknown = std::find_if(hosts.begin(), hosts.end(), is_service_name);
  if (unknown == hosts.end()) return;
  warnings.push_back(job.pod_path("hostNetwork") +
                     ": a pod on the host's network cannot resolve the store's host " +
                     printable(*unknown, 80) + "; set dnsPolicy: ClusterFirstWithHostNet");
}

std::string restart_warning(const std::string& rule, const OwnExitCode& own) {
  const std::string code = std::to_string(own.code);
  return rule + ": restarts the container after the wrapper's exit code " + code + " (" +
         own.meaning + "), possibly without end; exclude " + code + " from the rule";
}

void add_restarts(const JobView& job, std::size_t container, Warnings& warnings) {
  const auto& rules = job.containers[container].restart_rules;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto own = std::find_if(
        kOwnExitCodes.begin(), kOwnExitCodes.end(),
        [&](const OwnExitCode& own_code) { return rules[i].restarts_after(own_code.code); });
    if (own == kOwnExitCodes.end()) continue;
    const std::string rule =
        job.container_path(container) + ".restartPolicyRules[" + std::to_string(i) + "]";
    warnings.push_back(restart_warning(rule, *own));
    return;
  }
}

void add_probes(const JobView& job, std::size_t index, Warnings& warnings) {
  const ContainerView& container = job.containers[index];
  const auto add = [&](const char* probe) {
    warnings.push_back(job.container_path(index) + "." + probe +
                       ": the probe also runs while the container waits for its lock, and can kill "
                       "it; let it succeed during the wait");
  };
  if (container.has_liveness_probe) add("livenessProbe");
  if (container.has_startup_probe) add("startupProbe");
}

// Containers of the pod that run without the lock.
void add_other_containers(const JobView& job, Warnings& warnings) {
  if (job.containers.size() > 1)
    warnings.push_back(job.pod_path("containers") +
                       ": the other containers run without the lock, and continue after a skip; "
                       "make them native sidecars, or stop them with cronlatch.dev/skip-command");
  std::string names;
  for (const ContainerView& init : job.init_containers) {
    if (init.name == kInstallContainer || init.restart_policy == "Always") continue;
    names += (names.empty() ? "" : ", ") + printable(init.name, 63);
  }
  if (!names.empty())
    warnings.push_back(job.pod_path("initContainers") + ": " + names +
                       ": init containers run before the lock is acquired; move work that needs "
                       "the lock to the gated container");
}

// A skipped Job is Complete like any other: only its pod contains the outcome.
void add_ttl(const JobView& job, Warnings& warnings) {
  if (job.ttl_seconds_after_finished == 0)
    warnings.push_back(job.origin.path +
                       "spec.ttlSecondsAfterFinished: 0 deletes the pod at once, and with it the "
                       "outcome (ran or skipped); write for example 3600");
}

}  // namespace

Warnings job_warnings(const JobView& job, std::size_t container, const Settings& settings) {
  Warnings warnings;
  add_probes(job, container, warnings);
  add_restarts(job, container, warnings);
  add_other_containers(job, warnings);
  add_network(job, settings, warnings);
  add_ttl(job, warnings);
  return warnings;
}

Warnings history_warnings(const kube::Json& cronjob) {
  Warnings warnings;
  for (const char* const limit : {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    if (kube::number_at(cronjob, {"spec", limit}) == 0)
      warnings.push_back(std::string("spec.") + limit +
                         ": 0 deletes a Job as soon as it has finished, and with it the reason; "
                         "write 1 or more");
  return warnings;
}

}  // namespace cronlatch::op
