// SPDX-License-Identifier: Apache-2.0
// The gated container of a pod: the one that runs the wrapper, first or behind another program
// (labels/gate_argv.h). Pure.
#pragma once

#include "kube/json.h"

namespace cronlatch {

// `pod_spec`: the spec of a pod or of a pod template. nullptr: no container is gated. The pointer
// is valid as long as `pod_spec`.
const kube::Json* gated_container(const kube::Json& pod_spec);

}  // namespace cronlatch
