// SPDX-License-Identifier: Apache-2.0
// Metrics of this process with the names of Prometheus' client libraries, so that dashboards need
// no metrics of the kubelet.
#pragma once

#include <string>

namespace cronlatch::op {

// Appends the families process_* of metrics/metrics_table.h in Prometheus' text format 0.0.4. Skips
// values that /proc does not have. Any thread. A MetricSource: Metrics catches its exceptions.
void append_process_metrics(std::string& out);

}  // namespace cronlatch::op
