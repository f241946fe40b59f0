// SPDX-License-Identifier: Apache-2.0
#include "admission/wrapper_command.h"

#include <algorithm>
#include <map>

#include "admission/job_restrictions.h"
#include "admission/store_volume.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "labels/holder.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

// Option key -> value, escaped for the kubelet.
using Values = std::map<std::string, std::string, std::less<>>;

std::string variable(std::string_view name) { return "$(" + std::string(name) + ")"; }

// "/<index>" of an Indexed pod: the same in every retry of the pod, and in every cluster.
std::string index_suffix(const JobView& job) {
  return job.has_indexed_pods() ? "/" + variable(kIndexVariable) : "";
}

// `<cronjob>[/<index>]@<seconds since 1970>`: the same for one scheduled time in every time zone,
// escaped for the kubelet.
std::string schedule_identity(const JobView& job, const std::string& cronjob, Findings& findings) {
  if (job.scheduled_timestamp.empty()) return "";  // created by hand: only the lock excludes it
  const std::optional<WallTime> at = parse_rfc3339(job.scheduled_timestamp);
  if (at)
    return kubelet_escaped(cronjob) + index_suffix(job) + "@" + std::to_string(at->us / 1'000'000);
  findings.add(job.annotation_path(kScheduledAnnotation),
               cronlatch::quoted(job.scheduled_timestamp, 40) + " is not a time",
               "remove the annotation: the CronJob controller writes it, for example "
               "2026-11-21T02:00:00Z");
  return "";
}

// The time from SIGTERM to SIGKILL when the kubelet stops the pod. A run can record its result only
// within it.
std::string grace_period(const JobView& job) {
  constexpr std::int64_t kMaxSeconds = 86'400;
  const auto seconds = job.termination_grace_period_seconds;
  if (!seconds || *seconds < 1) return "";
  return show_duration(Seconds(std::min(*seconds, kMaxSeconds)));
}

// "demo/<pod>@eu-1": the holder in messages, also of another cluster with the same store.
std::string holder(const std::string& namespace_name, const std::string& cluster) {
  return kubelet_escaped(namespace_name + "/") + variable(kPodNameVariable) +
         cluster_suffix(cluster);
}

Values values_of_job(const JobView& job, const LockRequest& request, const Settings& settings,
                     const std::string& outcome_file, Findings& findings) {
  Values values;
  const auto& [path, namespace_name, cronjob] = job.origin;
  if (!request.has_invalid_lock && request.lock.empty() && cronjob.empty()) {
    findings.add(request.lock_where,
                 "\"true\" means the CronJob's own lock, but no CronJob owns this Job",
                 "write for example cronlatch.dev/lock: \"nightly-report\"");
    return values;
  }
  const Result<std::string> lock = full_lock_name(request, namespace_name, cronjob);
  if (!lock.ok() && !request.has_invalid_lock)
    findings.add(request.lock_where, "the CronJob's own lock has no valid name",
                 "write for example cronlatch.dev/lock: \"nightly-report\"", lock.error().message);
  if (lock.ok()) values["lock"] = kubelet_escaped(*lock);
  if (!cronjob.empty()) {
    const std::string full_name = namespace_name + "/" + cronjob;
    values["job"] = kubelet_escaped(full_name);
    if (request.once_per_schedule) {
      values["once-per"] = schedule_identity(job, full_name, findings);
      values["grace-period"] = grace_period(job);
    }
  }
  values["attempt-group"] = variable(kJobUidVariable) + index_suffix(job);
  values["holder"] = holder(namespace_name, settings.cluster_name);
  values["outcome-file"] = kubelet_escaped(outcome_file);
  return values;
}

// The platform's wait-timeout for all Jobs must be shorter than this Job's deadline: the reason of
// a Job that reaches its deadline does not name the lock.
void limit_wait(const JobView& job, Options& options) {
  if (job.active_deadline && options.wait_timeout >= *job.active_deadline)
    options.wait_timeout = max_wait_within(*job.active_deadline);
}

}  // namespace

std::vector<std::string> wrapper_command(const JobView& job, const LockRequest& request,
                                         const Settings& settings, const std::string& outcome_file,
                                         Findings& findings) {
  Values values = values_of_job(job, request, settings, outcome_file, findings);
  Options options = request.options;
  limit_wait(job, options);
  for (const std::string& key : request.decided)
    values[key] = kubelet_escaped(show_option(options, *find_option(key)));
  values["store"] = kubelet_escaped(settings.store);
  if (has_store_volume(request, settings)) values["credentials-dir"] = kStoreDirectory;

  std::vector<std::string> command = {std::string(kGateBinary), "run", "--isolated"};
  for (const Option& option : option_table()) {  // always in this order
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
