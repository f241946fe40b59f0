// SPDX-License-Identifier: Apache-2.0
#include "plugin/release_wait.h"

#include "base/text.h"
#include "plugin/json_fields.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;
using Args = std::vector<std::string>;

constexpr Millis kPollInterval{1'000};
constexpr Millis kPodTimeout{120'000};    // scheduling and image
constexpr Millis kJobTimeout{3'900'000};  // the longest lease (1 h) and the start of a pod (5 min)

enum class JobState { active, complete, failed };

JobState state_of(const Json& job) {
  for (const Json& condition : kube::items_at(job, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) != "True") continue;
    if (string_at(condition, {"type"}) == "Complete") return JobState::complete;
    if (string_at(condition, {"type"}) == "Failed") return JobState::failed;
  }
  return JobState::active;
}

// Why the Job cannot be read, if another attempt has the same result: a missing right, or another
// client deleted it. Empty for other errors.
std::string unreadable_reason(const KubectlResult& answer) {
  const std::string line = error_line(answer);
  for (const std::string_view reason : {"(Forbidden)", "(NotFound)"})
    if (line.find(reason) != std::string::npos) return "its result is unknown: " + line;
  return "";
}

// Why the Job's pod has not started; empty if it has. Such a Job may never end.
std::string pending_reason(const Context& context, const Args& place, const std::string& name) {
  const auto answer =
      run_one(context.kubectl, captured({"get", "pods", place[0], place[1], "-l",
                                         "batch.kubernetes.io/job-name=" + name, "-o", "json"}));
  if (!answer || !answer->ok()) return "";
  const auto list = kube::parse_json(answer->out);
  if (!list) return "";
  if (items_of(*list).empty()) return "it has no pod; check Pod Security and quotas";
  const Json& object = items_of(*list).front();
  const Pod pod = read_pod(object);
  if (pod.phase != "Pending") return "";
  if (!pod.unscheduled.empty()) return "its pod is not scheduled: " + pod.unscheduled;
  const Json* const statuses = kube::find(object, {"status", "containerStatuses"});
  if (statuses == nullptr || !statuses->is_array() || statuses->empty())
    return "its pod is pending";
  return "its container is not started: " +
         printable(string_at((*statuses)[0], {"state", "waiting", "reason"}) + ' ' +
                       string_at((*statuses)[0], {"state", "waiting", "message"}),
                   300);
}

}  // namespace

Result<Output> await_release_job(const Context& context, const ReleaseTarget& target,
                                 const std::string& job) {
  const Args place = {"-n", target.namespace_name};
  const std::string name = job.substr(job.rfind('/') + 1);
  const TimePoint began = context.clock.now();
  JobState state = JobState::active;
  std::string error;
  while (state == JobState::active && error.empty()) {
    context.sleep(kPollInterval);
    const auto answer =
        run_one(context.kubectl, captured({"get", "job", name, place[0], place[1], "-o", "json"}));
    if (answer && !answer->ok()) {
      error = unreadable_reason(*answer);
    } else if (answer) {
      if (const auto object = kube::parse_json(answer->out)) state = state_of(*object);
    }
    const Micros passed = context.clock.now() - began;
    if (state == JobState::active && error.empty() && passed > kPodTimeout)
      error = pending_reason(context, place, name);
    if (passed > kJobTimeout) error = "it did not end in time";
  }
  const auto logs = run_one(context.kubectl, captured({"logs", "job/" + name, place[0], place[1]}));
  std::string text = logs && logs->ok() ? logs->out : std::string();
  while (text.ends_with('\n')) text.pop_back();
  if (state == JobState::active)
    return Error{Code::unreachable, "Job " + target.namespace_name + '/' + name + ": " + error,
                 "the plugin did not delete it; see: kubectl -n " + target.namespace_name +
                     " describe job " + name + ", kubectl cronlatch ls"};
  // An error is ignored: its ttlSecondsAfterFinished deletes it, too.
  (void)run_one(context.kubectl,
                captured({"delete", "job", name, place[0], place[1], "--wait=false"}));
  Output output;
  output.sections.push_back({.lines = {text.empty() ? "Job " + name + " has ended" : text}});
  output.json = {{"lock", target.lock}, {"released", state == JobState::complete}, {"said", text}};
  output.exit_code = state == JobState::complete ? 0 : 1;
  return output;
}

}  // namespace cronlatch::plugin
