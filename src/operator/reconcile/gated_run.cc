// SPDX-License-Identifier: Apache-2.0
// Finds the termination of the gated container and parses its message.
#include "operator/reconcile/gated_run.h"

#include <algorithm>

#include "admission/workload.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "kube/container_argv.h"
#include "kube/controller_of.h"
#include "labels/gate_argv.h"

namespace cronlatch::op {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

constexpr std::size_t kMaxShown = 300;
constexpr std::size_t kMaxMessage = 4'096;  // the limit of the kubelet

bool finished(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::string gated_container(const Json& pod) {
  for (const Json& container : kube::items_at(pod, {"spec", "containers"}))
    if (find_gate(kube::argv_of(container))) return string_at(container, {"name"});
  return "";
}

const Json* terminated(const Json& pod, const std::string& container) {
  const auto& statuses = kube::items_at(pod, {"status", "containerStatuses"});
  const auto index = index_of_name(statuses, container);
  return index ? find(statuses[*index], {"state", "terminated"}) : nullptr;
}

int integer_at(const Json& object, std::initializer_list<std::string_view> path) {
  const std::int64_t number = kube::number_at(object, path).value_or(0);
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, 255));
}

Millis millis_at(const Json& object, std::initializer_list<std::string_view> path) {
  return Millis(std::max<std::int64_t>(kube::number_at(object, path).value_or(0), 0));
}

std::string shown(const Json& message, std::string_view key) {
  return printable(string_at(message, {key}), kMaxShown);
}

void read_outcome(std::string_view text, GatedRun& run) {
  const auto message = kube::parse_json(text, {.bytes = kMaxMessage, .depth = 4});
  if (!message || kube::number_at(*message, {"v"}) != 1) return;
  const std::string kind = string_at(*message, {"outcome"});
  for (const KindRow& row : kind_table())
    if (row.name == kind) run.kind = row.kind;
  const std::string reason = string_at(*message, {"reason"});
  for (const ReasonRow& row : reason_table())
    if (row.name == reason) run.reason = row.reason;
  run.lock = shown(*message, "lock");
  run.holder = shown(*message, "holder");
  run.fence = shown(*message, "fence");
  run.since = shown(*message, "since");
  run.until = shown(*message, "until");
  run.stole = kube::is_true(*message, {"stolen"});
  run.not_marked = kube::is_true(*message, {"not_marked"});
  run.waited = millis_at(*message, {"waited_ms"});
  run.held = millis_at(*message, {"held_ms"});
}

}  // namespace

std::optional<GatedRun> read_gated_run(const Json& pod) {
  GatedRun run;
  run.container = gated_container(pod);
  const Json* end = run.container.empty() ? nullptr : terminated(pod, run.container);
  if (end == nullptr) return std::nullopt;
  run.exit_code = integer_at(*end, {"exitCode"});
  run.ended = printable(string_at(*end, {"reason"}), kMaxShown);
  const bool is_final =
      finished(pod) || string_at(pod, {"spec", "restartPolicy"}) == "Never" || run.exit_code == 0;
  if (!is_final) return std::nullopt;
  run.pod = {"v1", "Pod", string_at(pod, {"metadata", "namespace"}),
             string_at(pod, {"metadata", "name"}), string_at(pod, {"metadata", "uid"})};
  run.job = kube::owner_of(pod, "Job");
  run.finished = parse_rfc3339(string_at(*end, {"finishedAt"})).value_or(WallTime{});
  read_outcome(string_at(*end, {"message"}), run);
  return run;
}

}  // namespace cronlatch::op
