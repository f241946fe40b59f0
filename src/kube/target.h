// SPDX-License-Identifier: Apache-2.0
// The request line's target: path and query, percent-encoded. Names of objects come from other
// people, so nothing of them may reach the wire unescaped.
#pragma once

#include <string>

#include "kube/api.h"

namespace cronlatch::kube {

// "/apis/batch/v1/cronjobs?watch=1&resourceVersion=42"
std::string target_of(const Request& request);

}  // namespace cronlatch::kube
