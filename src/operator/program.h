// SPDX-License-Identifier: Apache-2.0
// The operator as a function: command line in, exit code out. main.cc calls it with what the
// process has; tests call it with a quicker tempo, which no user can set.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "operator/command_line.h"
#include "operator/http/http_server.h"
#include "operator/metrics/lock_stats_reader.h"

namespace cronlatch::op {

struct WatchTiming {
  HttpLimits admission;
  // The kubelet and Prometheus; nobody sends bodies here.
  HttpLimits plain{.body_bytes = 64 * 1024,
                   .body_budget = 1024 * 1024,
                   .connections = 64,
                   .workers = 2,  // a probe does not wait for a scrape of thousands of locks
                   .io_threads = 1};
  LockStatsTiming lock_stats{};
  Millis look{2'000};    // how often certificate files are read again
  Millis leave{5'000};   // after SIGTERM: still accepting, until nobody sends us anything new
  Millis grace{10'000};  // then: for answers under way. Together below the pod's 30 s
};

// `arguments` without the program's name. Blocks SIGTERM and SIGINT and waits for them; start no
// thread before.
int run_operator(const std::vector<std::string>& arguments, const EnvironmentVariable& environment,
                 const WatchTiming& timing);

}  // namespace cronlatch::op
