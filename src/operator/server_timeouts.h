// SPDX-License-Identifier: Apache-2.0
// Time limits and capacities of the operator. Fixed in the program that ships.
#pragma once

#include "base/time.h"
#include "operator/http/http_server.h"
#include "operator/metrics/lock_stats_reader.h"

namespace cronlatch::op {

struct ServerTimeouts {
  HttpLimits admission;
  // The port of the kubelet and of Prometheus; its requests have no bodies.
  HttpLimits plain{.body_bytes = std::size_t{64} * 1024,
                   .body_budget = std::size_t{1024} * 1024,
                   .connections = 64,
                   .workers = 2,  // a probe does not wait for a scrape of thousands of locks
                   .io_threads = 1};
  // The port of metrics and status page with tokens. Reviews occupy workers
  // (AccessLimits::at_once).
  HttpLimits pages{.body_bytes = std::size_t{64} * 1024,
                   .body_budget = std::size_t{1024} * 1024,
                   .connections = 64,
                   .workers = 4,
                   .io_threads = 1};
  LockStatsTiming lock_stats{};
  // The longest time between two reports of a loop to Liveness. Each round takes less: a read of
  // lock statistics at most 24 s after a wait of 15 s, a call to the API server 10 s.
  Millis progress{120'000};
  Millis certificate_poll{2'000};  // interval at which certificate files are read
  // After SIGTERM the operator accepts connections for `drain`, then waits at most `grace` for
  // requests in progress. Together they are shorter than the pod's 30 s.
  Millis drain{5'000};
  Millis grace{10'000};
};

}  // namespace cronlatch::op
