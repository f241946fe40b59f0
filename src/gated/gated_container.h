// SPDX-License-Identifier: Apache-2.0
// The gated container of a pod: the one that runs the wrapper, first or behind another program
// (labels/gate_argv.h); and how it ended. Pure.
#pragma once

#include "kube/json.h"

namespace cronlatch {

// `pod_spec`: the spec of a pod or of a pod template. nullptr: no container is gated. The pointer
// is valid as long as `pod_spec`.
const kube::Json* gated_container(const kube::Json& pod_spec);

// The exit code in `state.terminated` of a container status; 0 to 255, 0 if it is missing.
int exit_code_of(const kube::Json& terminated);

}  // namespace cronlatch
