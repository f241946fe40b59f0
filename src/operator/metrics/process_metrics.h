// SPDX-License-Identifier: Apache-2.0
// What Linux knows of this process, under the names that Prometheus' own client libraries give it,
// so that dashboards need no metrics of the kubelet.
#pragma once

#include <string>

namespace cronlatch::op {

// Appends the families process_* of metrics/metrics_table.h in Prometheus' text format 0.0.4. What
// cannot be read in /proc is left out. Any thread. As a MetricSource: what the library throws on
// the way is Metrics' to catch.
void append_process_metrics(std::string& out);

}  // namespace cronlatch::op
