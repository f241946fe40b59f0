// SPDX-License-Identifier: Apache-2.0
#include "model/world/plan.h"

namespace cronlatch::model {
namespace {

Us us(Millis d) { return Micros(d).count(); }

}  // namespace

double random_rate(Random& random) {
  return 1.0 + static_cast<double>(random.between(-450, 450)) / 100'000.0;
}

Plan random_plan(Random& random) {
  Plan plan;
  plan.ttl =
      kMs * (random.percent(80) ? random.between(5'000, 8'000) : random.between(9'000, 30'000));
  if (random.one_in(4)) plan.slots = static_cast<unsigned>(random.between(2, 3));
  plan.server_rate = random_rate(random);
  plan.has_faults = !random.one_in(4);
  if (random.one_in(4))
    plan.loss = random.one_in(3) ? Loss::all : static_cast<Loss>(random.between(2, 6));
  plan.steps_back = plan.loss == Loss::none && random.one_in(10);
  plan.rotates = random.one_in(6);
  plan.uses_groups = random.one_in(2);
  plan.uses_identities = plan.loss == Loss::mark || random.one_in(2);
  return plan;
}

RunSpec random_spec(Random& random, const Plan& plan, int id) {
  RunSpec spec;
  spec.lock = "l";
  spec.slots = plan.slots;
  spec.owner = "o" + std::to_string(id);
  spec.identity.holder = "h" + std::to_string(id);
  spec.identity.job = random.one_in(2) ? "a" : "b";
  if (plan.uses_groups && random.one_in(2))
    spec.identity.group = "g" + std::to_string(random.between(0, 2));
  if (plan.uses_identities && random.one_in(2))
    spec.identity.once = "t" + std::to_string(random.between(0, 9));
  spec.once_ttl = std::chrono::hours(1);
  spec.kill_after = Millis(random.between(0, 4'000));
  spec.timings = *plan_timings({.ttl = Millis(plan.ttl / kMs),
                                .renew_every = {},
                                .op_timeout = {},
                                .kill_after = spec.kill_after});
  spec.on_busy = random.percent(65)   ? OnBusy::wait
                 : random.percent(80) ? OnBusy::skip
                                      : OnBusy::fail;
  spec.wait_timeout = Millis(random.one_in(3) ? random.between(1'000, 60'000) : 0);
  const std::int64_t down = random.between(1, 10);
  spec.on_store_down = down <= 4   ? OnStoreDown::fail
                       : down <= 9 ? OnStoreDown::wait
                                   : OnStoreDown::run;
  spec.on_lost = random.percent(85) ? OnLost::kill : random.one_in(2) ? OnLost::term : OnLost::warn;
  const std::int64_t left = random.between(1, 10);
  spec.leftovers = left <= 3 ? Leftovers::wait : left <= 9 ? Leftovers::end : Leftovers::leave;
  if (random.one_in(5)) spec.min_hold = Millis(random.between(0, 2 * plan.ttl / kMs));
  if (random.one_in(5)) spec.max_run = Millis(random.between(1'000, 20'000));
  spec.has_skip_command = random.one_in(10);
  spec.connect_timeout = Millis(5'000);
  spec.grace_period = Millis(30'000);
  spec.seed = random.bits();
  return spec;
}

RunFacts facts_of(const RunSpec& spec, int id) {
  RunFacts facts;
  facts.id = id;
  facts.owner = spec.owner;
  facts.job = spec.identity.job;
  facts.group = spec.identity.group;
  facts.once = spec.identity.once;
  facts.on_busy = spec.on_busy;
  facts.on_lost = spec.on_lost;
  facts.on_store_down = spec.on_store_down;
  facts.leftovers = spec.leftovers;
  facts.ttl = us(spec.timings.ttl);
  facts.kill_after = us(spec.kill_after);
  facts.max_run = us(spec.max_run);
  facts.min_hold = us(spec.min_hold);
  facts.wait_timeout = us(spec.wait_timeout);
  facts.window = us(spec.connect_timeout);
  facts.grace_period = us(spec.grace_period);
  return facts;
}

}  // namespace cronlatch::model
