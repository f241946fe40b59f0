// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/store_servers.h"

#include <array>

#include "core/error_reason.h"

namespace cronlatch::op {
namespace {

constexpr MetricName kServerUp{"cronlatch_store_server_up"};
constexpr MetricName kServerLatency{"cronlatch_store_server_latency_seconds"};
constexpr MetricName kServerErrors{"cronlatch_store_server_errors_total"};

// Every value of reason_of().
constexpr std::array kReasons{Reason::unreachable, Reason::auth, Reason::tls, Reason::acl,
                              Reason::config};

MetricLabels labels_of(const std::string& endpoint) { return {{"endpoint", endpoint}}; }

MetricLabels error_labels(const std::string& endpoint, Reason reason) {
  return {{"endpoint", endpoint}, {"reason", std::string(name_of(reason))}};
}

}  // namespace

void StoreServers::report(const std::vector<ServerState>& states) {
  if (states.empty())
    for (const auto& [endpoint, error] : last_errors_)
      for (const MetricName& gauge : {kServerUp, kServerLatency})
        metrics_.remove(gauge, labels_of(endpoint));
  for (const ServerState& state : states) {
    if (!last_errors_.contains(state.endpoint))
      for (const Reason reason : kReasons)
        metrics_.count(kServerErrors, error_labels(state.endpoint, reason), 0);
    if (state.up())
      report_up(state);
    else
      report_down(state);
  }
}

void StoreServers::report_up(const ServerState& state) {
  metrics_.set(kServerUp, labels_of(state.endpoint), 1);
  metrics_.set(kServerLatency, labels_of(state.endpoint),
               static_cast<double>(state.took.count()) / 1e6);
  if (last_errors_[state.endpoint].clear())
    log_({Level::info,
          "store_server_up",
          "a server of the store answers",
          {{"endpoint", state.endpoint}}});
}

void StoreServers::report_down(const ServerState& state) {
  metrics_.set(kServerUp, labels_of(state.endpoint), 0);
  metrics_.remove(kServerLatency, labels_of(state.endpoint));
  metrics_.count(kServerErrors, error_labels(state.endpoint, reason_of(state.error->code)));
  if (last_errors_[state.endpoint].set(state.error->message))
    log_({Level::warn,
          "store_server_down",
          "cannot read a server of the store: " + state.error->message,
          {{"endpoint", state.endpoint}},
          state.error->hint});
}

}  // namespace cronlatch::op
