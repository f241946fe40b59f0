// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/gated_run.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "gated/gated_container.h"
#include "kube/controller_of.h"

namespace cronlatch::op {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

constexpr std::size_t kMaxShown = 300;

bool finished(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::string gated_container_name(const Json& pod) {
  const Json* const spec = find(pod, {"spec"});
  const Json* const container = spec == nullptr ? nullptr : gated_container(*spec);
  return container == nullptr ? "" : string_at(*container, {"name"});
}

const Json* terminated(const Json& pod, const std::string& container) {
  for (const Json& status : kube::items_at(pod, {"status", "containerStatuses"}))
    if (string_at(status, {"name"}) == container) return find(status, {"state", "terminated"});
  return nullptr;
}

}  // namespace

std::optional<GatedRun> read_gated_run(const Json& pod) {
  GatedRun run;
  run.container = gated_container_name(pod);
  const Json* end = run.container.empty() ? nullptr : terminated(pod, run.container);
  if (end == nullptr) return std::nullopt;
  run.exit_code = exit_code_of(*end);
  run.ended = printable(string_at(*end, {"reason"}), kMaxShown);
  const bool is_final =
      finished(pod) || string_at(pod, {"spec", "restartPolicy"}) == "Never" || run.exit_code == 0;
  if (!is_final) return std::nullopt;
  run.pod = {"v1", "Pod", string_at(pod, {"metadata", "namespace"}),
             string_at(pod, {"metadata", "name"}), string_at(pod, {"metadata", "uid"})};
  run.job = kube::owner_of(pod, "Job");
  run.finished = parse_rfc3339(string_at(*end, {"finishedAt"})).value_or(WallTime{});
  run.result = read_run_result(string_at(*end, {"message"}));
  return run;
}

}  // namespace cronlatch::op
