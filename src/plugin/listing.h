// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch` and `kubectl cronlatch describe`: gated CronJobs as rows, and one of them in
// full. Pure.
#pragma once

#include "plugin/cluster.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

enum class Width { normal, wide };
enum class Namespaces { one, all };

Page list_page(const Cluster& cluster, Namespaces namespaces, Width width);

// REQUIRES: `cronjob` is one of the cluster's.
Page describe_page(const Cluster& cluster, const CronJob& cronjob);

}  // namespace cronlatch::plugin
