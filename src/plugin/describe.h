// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch describe`: settings, next and recent runs, counters and advice of one CronJob.
// Pure.
#pragma once

#include "plugin/cluster.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

// REQUIRES: `cronjob` is one of the cluster's.
Output describe_output(const Cluster& cluster, const CronJob& cronjob);

}  // namespace cronlatch::plugin
