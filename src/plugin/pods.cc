// SPDX-License-Identifier: Apache-2.0
// A pod: what prevents its start, the state of its gated container, and the outcome that the
// wrapper wrote.
#include "gated/gated_container.h"
#include "labels/names.h"
#include "plugin/json_fields.h"
#include "plugin/objects.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

const Json* status_of(const Json& pod, std::string_view list, const std::string& container) {
  for (const Json& status : kube::items_at(pod, {"status", list}))
    if (string_at(status, {"name"}) == container) return &status;
  return nullptr;
}

// PodInitializing and ContainerCreating are normal states before the start.
void read_waiting(const Json& status, Pod& pod) {
  const std::string reason = printable_at(status, {"state", "waiting", "reason"});
  if (reason.empty() || reason == "PodInitializing" || reason == "ContainerCreating") return;
  if (!pod.waiting.empty()) return;
  pod.waiting = reason;
  pod.waiting_message = printable_at(status, {"state", "waiting", "message"});
  pod.waiting_container = printable_at(status, {"name"});
}

void read_init_status(const Json& status, Pod& pod) {
  read_waiting(status, pod);
  for (const std::string_view state : {"state", "lastState"}) {
    const Json* const end = find(status, {state, "terminated"});
    if (end == nullptr || kube::number_at(*end, {"exitCode"}) == 0 || !pod.init_failed.empty())
      continue;
    pod.init_failed = printable_at(status, {"name"}) + ": exit code " +
                      std::to_string(kube::number_at(*end, {"exitCode"}).value_or(0)) + " (" +
                      printable_at(*end, {"reason"}) + ")";
  }
}

void read_end(const Json& terminated, Pod& pod) {
  pod.ended = true;
  pod.exit_code = exit_code_of(terminated);
  pod.end_reason = printable_at(terminated, {"reason"});
  pod.finished = time_at(terminated, {"finishedAt"});
  pod.running_since = time_at(terminated, {"startedAt"});
  pod.result = read_run_result(string_at(terminated, {"message"}));
}

void read_gated_status(const Json& status, Pod& pod) {
  read_waiting(status, pod);
  if (find(status, {"state", "running"}) != nullptr) {
    pod.running = true;
    pod.running_since = time_at(status, {"state", "running", "startedAt"});
  }
  if (const Json* const end = find(status, {"state", "terminated"}))
    read_end(*end, pod);
  else if (const Json* const before = find(status, {"lastState", "terminated"});
           !pod.running && before)
    read_end(*before, pod);
}

}  // namespace

Pod read_pod(const Json& object) {
  Pod pod;
  pod.namespace_name = string_at(object, {"metadata", "namespace"});
  pod.name = string_at(object, {"metadata", "name"});
  pod.job = owner_name(object, "Job");
  pod.node = string_at(object, {"spec", "nodeName"});
  pod.phase = printable_at(object, {"status", "phase"});
  pod.reason = printable_at(object, {"status", "reason"});
  pod.message = printable_at(object, {"status", "message"});
  pod.created = time_at(object, {"metadata", "creationTimestamp"});
  pod.deleting = !string_at(object, {"metadata", "deletionTimestamp"}).empty();
  if (const Json* const spec = find(object, {"spec"})) {
    pod.flags = gate_flags(*spec);
    for (const Json& volume : kube::items_at(*spec, {"volumes"}))
      if (string_at(volume, {"name"}) == kBinVolume)
        pod.wrapper_image = printable_at(volume, {"image", "reference"});
    if (const Json* const container = gated_container(*spec))
      pod.container = string_at(*container, {"name"});
  }
  for (const Json& condition : kube::items_at(object, {"status", "conditions"}))
    if (string_at(condition, {"type"}) == "PodScheduled" &&
        string_at(condition, {"status"}) == "False")
      pod.unscheduled = printable_at(condition, {"message"});
  for (const Json& status : kube::items_at(object, {"status", "initContainerStatuses"}))
    read_init_status(status, pod);
  if (const Json* const status = status_of(object, "containerStatuses", pod.container))
    read_gated_status(*status, pod);
  return pod;
}

}  // namespace cronlatch::plugin
