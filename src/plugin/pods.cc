// SPDX-License-Identifier: Apache-2.0
// A pod, from the outside in: what keeps it from starting, how its gated container is or was, and
// the one line that the wrapper left there.
#include <algorithm>

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

// What a container that has not started says about it. Being next in line is no trouble.
void note_waiting(const Json& status, Pod& pod) {
  const std::string reason = shown(status, {"state", "waiting", "reason"});
  if (reason.empty() || reason == "PodInitializing" || reason == "ContainerCreating") return;
  if (!pod.waiting.empty()) return;
  pod.waiting = reason;
  pod.waiting_message = shown(status, {"state", "waiting", "message"});
  pod.waiting_container = shown(status, {"name"});
}

void note_init(const Json& status, Pod& pod) {
  note_waiting(status, pod);
  for (const std::string_view state : {"state", "lastState"}) {
    const Json* const end = find(status, {state, "terminated"});
    if (end == nullptr || kube::number_at(*end, {"exitCode"}) == 0 || !pod.init_failed.empty())
      continue;
    pod.init_failed = shown(status, {"name"}) + ": exit code " +
                      std::to_string(kube::number_at(*end, {"exitCode"}).value_or(0)) + " (" +
                      shown(*end, {"reason"}) + ")";
  }
}

void read_end(const Json& terminated, Pod& pod) {
  pod.ended = true;
  pod.exit_code = static_cast<int>(
      std::clamp<std::int64_t>(kube::number_at(terminated, {"exitCode"}).value_or(0), 0, 255));
  pod.end_reason = shown(terminated, {"reason"});
  pod.finished = time_at(terminated, {"finishedAt"});
  pod.running_since = time_at(terminated, {"startedAt"});
  pod.left = read_left(string_at(terminated, {"message"}));
}

void read_gated_status(const Json& status, Pod& pod) {
  note_waiting(status, pod);
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

Left read_left(std::string_view text) {
  constexpr std::size_t kLongest = 4'096;  // what the kubelet keeps
  Left left;
  const auto message = kube::parse_json(text, {.bytes = kLongest, .depth = 4});
  if (!message || kube::number_at(*message, {"v"}) != 1) return left;
  const std::string kind = string_at(*message, {"outcome"});
  for (const KindRow& row : kind_table())
    if (row.name == kind) left.kind = row.kind;
  const std::string reason = string_at(*message, {"reason"});
  for (const ReasonRow& row : reason_table())
    if (row.name == reason) left.reason = row.reason;
  left.lock = shown(*message, {"lock"});
  left.holder = shown(*message, {"holder"});
  left.fence = shown(*message, {"fence"});
  left.since = shown(*message, {"since"});
  left.until = shown(*message, {"until"});
  left.stole = kube::is_true(*message, {"stolen"});
  left.not_marked = kube::is_true(*message, {"not_marked"});
  left.waited =
      Millis(std::max<std::int64_t>(kube::number_at(*message, {"waited_ms"}).value_or(0), 0));
  left.held = Millis(std::max<std::int64_t>(kube::number_at(*message, {"held_ms"}).value_or(0), 0));
  return left;
}

Pod read_pod(const Json& object) {
  Pod pod;
  pod.namespace_name = string_at(object, {"metadata", "namespace"});
  pod.name = string_at(object, {"metadata", "name"});
  pod.job = owner(object, "Job");
  pod.node = string_at(object, {"spec", "nodeName"});
  pod.phase = shown(object, {"status", "phase"});
  pod.reason = shown(object, {"status", "reason"});
  pod.message = shown(object, {"status", "message"});
  pod.created = time_at(object, {"metadata", "creationTimestamp"});
  pod.deleting = !string_at(object, {"metadata", "deletionTimestamp"}).empty();
  if (const Json* const spec = find(object, {"spec"})) {
    pod.flags = gate_flags(*spec);
    if (const Json* const container = gated_container(*spec))
      pod.container = string_at(*container, {"name"});
  }
  for (const Json& condition : kube::items_at(object, {"status", "conditions"}))
    if (string_at(condition, {"type"}) == "PodScheduled" &&
        string_at(condition, {"status"}) == "False")
      pod.unscheduled = shown(condition, {"message"});
  for (const Json& status : kube::items_at(object, {"status", "initContainerStatuses"}))
    note_init(status, pod);
  if (const Json* const status = status_of(object, "containerStatuses", pod.container))
    read_gated_status(*status, pod);
  return pod;
}

}  // namespace cronlatch::plugin
