// SPDX-License-Identifier: Apache-2.0
// World: the parts of one schedule. Several real Runs request one lock in a store that executes the
// real rules, under virtual time. The same seed gives the same schedule.
#pragma once

#include <memory>
#include <vector>

#include "model/rules/checker.h"
#include "model/world/plan.h"
#include "model/world/random.h"
#include "model/world/scheduler.h"
#include "model/world/seen.h"
#include "model/world/server.h"
#include "model/world/trace.h"

namespace cronlatch::model {

class Client;

struct World {
  World(std::uint64_t seed, Defect d, std::size_t keep);
  ~World();
  World(const World&) = delete;

  Us now() const { return scheduler.now(); }
  void later(Us in, Scheduler::Task task) { scheduler.later(in, std::move(task)); }
  void note(int run, std::string_view what, std::int64_t number = 0) {
    trace.add(now(), run, what, number);
  }
  // Passes a fact to every rule.
  template <class... Parameters, class... Arguments>
  void fact(void (Rule::*what)(Parameters...), const Arguments&... arguments) {
    checker.moment.now = now();
    checker.moment.server_elapsed = server.elapsed();
    checker.apply(what, arguments...);
  }
  bool are_faults_over() const { return now() >= kFaultsEnd; }

  Scheduler scheduler;
  Random random;
  Trace trace;
  Checker checker;
  Seen seen;
  const Defect defect;
  const Plan plan;
  Server server;
  std::vector<std::unique_ptr<Client>> clients;
};

}  // namespace cronlatch::model
