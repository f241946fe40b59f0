// SPDX-License-Identifier: Apache-2.0
// Kubernetes' MicroTime: what Leases and Events carry. For people and for the API's validation; no
// decision of ours reads one.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch::kube {

// "2026-11-21T02:00:00.000123Z"
std::string micro_time(WallTime t);

}  // namespace cronlatch::kube
