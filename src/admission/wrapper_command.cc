// SPDX-License-Identifier: Apache-2.0
#include "admission/wrapper_command.h"

#include <map>

#include "admission/job_restrictions.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// Option -> text, escaped for the kubelet.
using Values = std::map<std::string, std::string, std::less<>>;

std::string variable(std::string_view name) { return "$(" + std::string(name) + ")"; }

// `<job>@<seconds since 1970>`: one name for one tick, whatever zone a cluster counts in.
std::string schedule_identity(const Workload& workload, const std::string& job,
                              Findings& findings) {
  const std::string stamp =
      kube::string_at(*workload.job, {"metadata", "annotations", kScheduledAnnotation});
  if (stamp.empty()) return "";  // made by hand: excluded by the lock alone
  const std::optional<WallTime> at = parse_rfc3339(stamp);
  if (at) return job + "@" + std::to_string(at->us / 1'000'000);
  findings.add(workload.path + "metadata.annotations[" + std::string(kScheduledAnnotation) + "]",
               cronlatch::quoted(stamp) + " is no time",
               "leave it to Kubernetes, which writes it like 2026-11-21T02:00:00Z");
  return "";
}

// How long the kubelet leaves a pod that it ends: what a run may use to record what it has done.
std::string grace_period(const Workload& workload) {
  const auto seconds =
      kube::number_at(*workload.job, {"spec", "template", "spec", "terminationGracePeriodSeconds"});
  constexpr std::int64_t kLongest = 86'400;
  if (!seconds || *seconds < 1) return "";
  return show_duration(Seconds(std::min(*seconds, kLongest)));
}

Values facts_of_the_workload(const Workload& workload, const LockRequest& request,
                             const std::string& outcome_file, Findings& findings) {
  Values values;
  if (request.lock.empty() && workload.cronjob.empty()) {
    findings.add(workload.path + "metadata.annotations[" + std::string(kLockAnnotation) + "]",
                 "\"true\" is the CronJob's own lock, but no CronJob owns this Job",
                 "name the lock, for example cronlatch.dev/lock: \"nightly-report\"");
    return values;
  }
  const Result<std::string> lock =
      full_lock_name(request, workload.namespace_name, workload.cronjob);
  if (!lock.ok())
    findings.add(workload.path + "metadata.annotations[" + std::string(kLockAnnotation) + "]",
                 lock.error().message, lock.error().hint);
  else
    values["lock"] = kubelet_escaped(*lock);
  if (!workload.cronjob.empty()) {
    const std::string job = workload.namespace_name + "/" + workload.cronjob;
    values["job"] = kubelet_escaped(job);
    if (request.once_per_schedule)
      values["once-per"] = kubelet_escaped(schedule_identity(workload, job, findings));
    if (request.once_per_schedule) values["grace-period"] = grace_period(workload);
  }
  values["attempt-group"] = variable(kJobUidVariable);
  values["holder"] = kubelet_escaped(workload.namespace_name + "/") + variable(kPodNameVariable);
  values["outcome-file"] = kubelet_escaped(outcome_file);
  return values;
}

// A limit that the platform gave to all must not outlive one Job's deadline: the Job would end
// without a word about the lock.
void fit_into_deadline(const Workload& workload, Options& options) {
  const std::optional<Millis> deadline = active_deadline(*workload.job);
  if (deadline && options.wait_timeout >= *deadline) options.wait_timeout = wait_within(*deadline);
}

}  // namespace

std::vector<std::string> wrapper_command(const Workload& workload, const LockRequest& request,
                                         const Settings& settings, const std::string& outcome_file,
                                         Findings& findings) {
  Values values = facts_of_the_workload(workload, request, outcome_file, findings);
  Options options = request.options;
  fit_into_deadline(workload, options);
  for (const std::string& key : request.decided)
    values[key] = kubelet_escaped(show_option(options, *find_option(key)));
  values["store"] = kubelet_escaped(settings.store);
  if (!request.store_secret.empty()) values["credentials-dir"] = kStoreDirectory;

  std::vector<std::string> command = {std::string(kGateBinary), "run", "--isolated"};
  for (const Option& option : option_table()) {  // one order, whoever decided what
    const auto value = values.find(option.key);
    if (value != values.end() && !value->second.empty())
      command.push_back(flag_of(option) + "=" + value->second);
  }
  command.emplace_back("--");
  return command;
}

std::string kubelet_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

}  // namespace cronlatch::op
