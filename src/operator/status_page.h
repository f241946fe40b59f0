// SPDX-License-Identifier: Apache-2.0
// The status page: GET /status on the plain port, one JSON object for people's tools (the kubectl
// plugin reads it through the API server). Read-only and without secrets: of a lock it shows what
// `cronlatch ls -o json` shows.
#pragma once

#include <string>
#include <string_view>

#include "operator/metrics/exporter.h"

namespace cronlatch::op {

struct StatusFacts {
  std::string_view version;
  std::string_view endpoint;  // "": there is no store
  bool leader = false;
  WallTime now{};
};

// {"v":1,"time":..,"version":..,"leader":..,"store":{"endpoint":..,"up":..,"read":..,"error":..},
//  "locks":[..]}. `read` is null before the first reading; the locks are of that time.
std::string status_page(const StatusFacts& facts, const Exporter::Status& status);

}  // namespace cronlatch::op
