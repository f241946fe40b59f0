// SPDX-License-Identifier: Apache-2.0
// The gated run of a finished pod: the end of its gated container, and the outcome that the wrapper
// reported.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "gated/run_result.h"
#include "kube/json.h"
#include "kube/object_ref.h"

namespace cronlatch::op {

struct GatedRun {
  kube::ObjectRef pod;
  kube::ObjectRef job;  // name empty: the pod has no Job
  std::string container;
  WallTime finished{};
  std::string ended;  // the reason of Kubernetes: Completed, Error, OOMKilled, StartError
  int exit_code = 0;
  RunResult result;
};

// Nothing while the gated container runs or can be restarted, and for a pod without one.
std::optional<GatedRun> read_gated_run(const kube::Json& pod);

}  // namespace cronlatch::op
