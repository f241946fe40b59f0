// SPDX-License-Identifier: Apache-2.0
// StoreServers: the metrics and the log of each server of a quorum. The store itself works while a
// majority of them answers (cronlatch_store_up).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/last_error.h"
#include "base/log.h"
#include "core/server_state.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

// Thread rule: one thread.
class StoreServers {
 public:
  // Both must outlive the object.
  StoreServers(Metrics& metrics, const Log& log) : metrics_(metrics), log_(log) {}

  // After each read. Empty: the servers were not requested. Their series end, because the last
  // values are not current.
  void report(const std::vector<ServerState>& states);

 private:
  void report_up(const ServerState& state);
  void report_down(const ServerState& state);

  Metrics& metrics_;
  const Log& log_;
  std::map<std::string, LastError> last_errors_;  // by endpoint
};

}  // namespace cronlatch::op
