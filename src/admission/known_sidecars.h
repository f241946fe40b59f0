// SPDX-License-Identifier: Apache-2.0
// Containers that are probably not the one to gate: proxies, agents and collectors beside the work.
// Only the example of a message uses it; nothing is decided by it.
#pragma once

#include "admission/job_view.h"

namespace cronlatch::op {

bool is_known_sidecar(const ContainerView& container);

}  // namespace cronlatch::op
