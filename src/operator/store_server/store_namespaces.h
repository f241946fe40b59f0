// SPDX-License-Identifier: Apache-2.0
// The namespaces that may use the store server: the operator's own, those in the settings, and
// those with the labels in the settings.
#pragma once

#include <string>
#include <vector>

#include "admission/settings.h"
#include "base/result.h"
#include "kube/api.h"

namespace cronlatch::op {

// Sorted, each once. An error if the API server does not list the namespaces: a part of them would
// remove the users of the others.
Result<std::vector<std::string>> store_namespaces(const Settings& settings, kube::Api& api);

}  // namespace cronlatch::op
