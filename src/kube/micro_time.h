// SPDX-License-Identifier: Apache-2.0
// Kubernetes' type MicroTime, as required in Leases and Events. No decision reads it.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch::kube {

// "2026-11-21T02:00:00.000123Z"
std::string micro_time(WallTime t);

}  // namespace cronlatch::kube
