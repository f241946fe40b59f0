// SPDX-License-Identifier: Apache-2.0
// The status page: GET /status on the plain port, one JSON object. The kubectl plugin reads it
// through the API server. It contains no secrets: a lock has the fields of `cronlatch ls -o json`.
#pragma once

#include <string>
#include <string_view>

#include "operator/metrics/exporter.h"

namespace cronlatch::op {

struct StatusFacts {
  std::string_view version;
  std::string_view endpoint;  // "": no store
  bool leader = false;
  WallTime now{};
  std::string_view cluster{};  // "": unknown
};

// {"v":1,"time":..,"version":..,"cluster":..,"other_clusters":[..],"leader":..,"store":{"endpoint":..,
//  "up":..,"read":..,"error":..,"servers":[{"endpoint":..,"up":..,"latency_us":..,"error":..}]},
//  "locks":[..]}. `read` is null before the first successful read; the locks are as of that time.
// `servers` are those of a quorum.
std::string status_page(const StatusFacts& facts, const Exporter::Status& status);

}  // namespace cronlatch::op
