// SPDX-License-Identifier: Apache-2.0
#include "model/world/schedule.h"

#include "model/world/faults.h"
#include "model/world/world.h"

namespace cronlatch::model {

World::World(std::uint64_t seed, Defect d, std::size_t keep)
    : random(seed), trace(keep), defect(d), plan(random_plan(random)), server(*this) {
  checker.moment.slots = plan.slots;
}

World::~World() = default;

Report run_schedule(std::uint64_t seed, Defect defect, std::size_t keep) {
  World world(seed, defect, keep);
  begin_schedule(world);
  while (world.checker.violation().empty() && world.scheduler.step(kTimeLimit)) {
  }
  for (const auto& client : world.clients)
    if (!client->facts.is_over())
      world.checker.keep("L1: run " + std::to_string(client->facts.id) + " never ends");
  return {world.checker.violation(), world.trace.hash(), world.trace.lines(), world.seen};
}

}  // namespace cronlatch::model
