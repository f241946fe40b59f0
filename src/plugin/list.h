// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch ls`: gated CronJobs as rows. Pure.
#pragma once

#include "plugin/cluster.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

enum class Width { normal, wide };
enum class Namespaces { one, all };

Output list_output(const Cluster& cluster, Namespaces namespaces, Width width);

}  // namespace cronlatch::plugin
