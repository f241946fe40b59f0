// SPDX-License-Identifier: Apache-2.0
// The identity of a cluster. Kubernetes has no name for a cluster; the UID of its namespace
// kube-system is unique and lasts as long as the cluster.
#pragma once

#include <string>

#include "kube/api.h"

namespace cronlatch::kube {

// The first 8 digits of that UID. Needs the right to get the namespace kube-system.
Result<std::string> short_cluster_uid(Api& api);

}  // namespace cronlatch::kube
