// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch`: gated CronJobs as rows. Pure.
#pragma once

#include "plugin/cluster.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

enum class Width { normal, wide };
enum class Namespaces { one, all };

Page list_page(const Cluster& cluster, Namespaces namespaces, Width width);

}  // namespace cronlatch::plugin
