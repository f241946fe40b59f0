// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch describe`: one gated CronJob in full: settings, next and recent runs,
// counters, advice. Pure.
#pragma once

#include "plugin/cluster.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

// REQUIRES: `cronjob` is one of the cluster's.
Page describe_page(const Cluster& cluster, const CronJob& cronjob);

}  // namespace cronlatch::plugin
