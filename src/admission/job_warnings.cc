// SPDX-License-Identifier: Apache-2.0
#include "admission/job_warnings.h"

#include <algorithm>
#include <array>

#include "admission/network_warnings.h"
#include "admission/user_command.h"
#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using Warnings = std::vector<Finding>;

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

void add_restarts(const JobView& job, std::size_t container, Warnings& warnings) {
  const auto& rules = job.containers[container].restart_rules;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto own = std::find_if(
        kOwnExitCodes.begin(), kOwnExitCodes.end(),
        [&](const OwnExitCode& own_code) { return rules[i].restarts_after(own_code.code); });
    if (own == kOwnExitCodes.end()) continue;
    const std::string code = std::to_string(own->code);
    warnings.push_back(
        {job.container_path(container) + ".restartPolicyRules[" + std::to_string(i) + "]",
         "restarts the container after the wrapper's exit code " + code + " (" + own->meaning +
             "), possibly without end",
         "exclude " + code + " from the rule"});
    return;
  }
}

// The first rule of podFailurePolicy that applies to a code decides.
void add_failure_policy(const JobView& job, std::size_t container, Warnings& warnings) {
  const std::string& name = job.containers[container].name;
  for (const int code : {69, 75, 79}) {
    const auto rule =
        std::find_if(job.failure_rules.begin(), job.failure_rules.end(),
                     [&](const FailureRuleView& one) { return one.applies_to(name, code); });
    if (rule == job.failure_rules.end() || !rule->action.starts_with("Fail")) continue;
    const auto own = std::find_if(kOwnExitCodes.begin(), kOwnExitCodes.end(),
                                  [&](const OwnExitCode& one) { return one.code == code; });
    warnings.push_back(
        {job.origin.path + "spec.podFailurePolicy.rules[" + std::to_string(rule->index) + "]",
         rule->action + " ends the Job without a retry after the wrapper's exit code " +
             std::to_string(code) + " (" + own->meaning + ")",
         "before it, add a rule for " + std::to_string(code) + " with action Count"});
  }
}

void add_probes(const JobView& job, std::size_t index, Warnings& warnings) {
  const ContainerView& container = job.containers[index];
  const auto add = [&](const char* probe) {
    warnings.push_back({job.container_path(index) + "." + probe,
                        "the probe also runs while the container waits for its lock, and can kill "
                        "it",
                        "let it succeed during the wait"});
  };
  if (container.has_liveness_probe) add("livenessProbe");
  if (container.has_startup_probe) add("startupProbe");
}

// Containers of the pod that run without the lock.
void add_other_containers(const JobView& job, const LockRequest& request, Warnings& warnings) {
  const bool has_command = !request.options.skip_command.empty();
  if (job.containers.size() > 1)
    warnings.push_back(
        {job.pod_path("containers"),
         has_command ? "the other containers run without the lock, and the Job is not complete "
                       "until they end"
                     : "the other containers run without the lock, and continue after a skip",
         has_command ? "check that cronlatch.dev/skip-command ends them after a skip"
                     : "make them native sidecars, or stop them with cronlatch.dev/skip-command"});
  std::string names;
  std::size_t count = 0;
  for (const ContainerView& init : job.init_containers) {
    if (init.name == kInstallContainer || init.restart_policy == "Always") continue;
    names += (names.empty() ? "" : ", ") + printable(init.name, 63);
    ++count;
  }
  if (count == 0) return;
  warnings.push_back({job.pod_path("initContainers"),
                      std::to_string(count) +
                          (count == 1 ? " init container runs" : " init containers run") +
                          " before the lock is acquired, also if the run is then skipped",
                      "move work that needs the lock to the gated container", names});
}

// A skipped Job is Complete like any other: only its pod contains the outcome.
void add_ttl(const JobView& job, Warnings& warnings) {
  constexpr std::int64_t kShortest = 60;  // a new leader of the operator may need that long
  const auto ttl = job.ttl_seconds_after_finished;
  if (!ttl || *ttl >= kShortest) return;
  const std::string after = *ttl == 0 ? "at once" : "after " + std::to_string(*ttl) + " s";
  warnings.push_back({job.origin.path + "spec.ttlSecondsAfterFinished",
                      std::to_string(*ttl) + " deletes the pod " + after +
                          ", and with it the outcome (ran or skipped)",
                      "write for example 3600"});
}

void add_host_pid(const JobView& job, Warnings& warnings) {
  if (job.host_pid)
    warnings.push_back({job.pod_path("hostPID"),
                        "a process that the command starts through the node (systemd-run, crictl) "
                        "continues after the lock is lost",
                        "let the command wait for it and stop it, or remove hostPID"});
}

void add_ignored_command(const JobView& job, std::size_t index, const LockRequest& request,
                         Warnings& warnings) {
  const std::vector<std::string> own = without_wrapper(job.containers[index].command);
  if (request.command.empty() || own.empty() || own == request.command) return;
  warnings.push_back({request.command_where, "ignored, because the container has a command",
                      "remove the annotation, or the container's command",
                      "container " + cronlatch::quoted(job.containers[index].name)});
}

}  // namespace

Warnings job_warnings(const JobView& job, std::size_t container, const LockRequest& request,
                      const Settings& settings) {
  Warnings warnings;
  add_ignored_command(job, container, request, warnings);
  add_probes(job, container, warnings);
  add_restarts(job, container, warnings);
  add_failure_policy(job, container, warnings);
  add_other_containers(job, request, warnings);
  add_network_warnings(job, settings, warnings);
  add_host_pid(job, warnings);
  add_ttl(job, warnings);
  return warnings;
}

Warnings history_warnings(const kube::Json& cronjob) {
  Warnings warnings;
  for (const char* const limit : {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    if (kube::number_at(cronjob, {"spec", limit}) == 0)
      warnings.push_back({std::string("spec.") + limit,
                          "0 deletes a Job as soon as it has finished, and with it the reason",
                          "write 1 or more"});
  return warnings;
}

}  // namespace cronlatch::op
