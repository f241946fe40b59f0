// SPDX-License-Identifier: Apache-2.0
// Plan: what one schedule contains, drawn from its seed.
#pragma once

#include "core/run_spec.h"
#include "model/rules/facts.h"
#include "model/world/defects.h"
#include "model/world/random.h"

namespace cronlatch::model {

inline constexpr Us kFaultsEnd = 60 * kSecond;     // no faults and no new runs after this
inline constexpr Us kTimeLimit = 4'000 * kSecond;  // the end of a schedule

enum class Loss { none, all, replica, grant, release, renewal, mark };

struct Plan {
  Us ttl = 0;
  unsigned slots = 1;
  double server_rate = 1.0;
  bool has_faults = true;  // of the network
  Loss loss = Loss::none;
  bool steps_back = false;
  bool rotates = false;  // the password
  bool uses_groups = false, uses_identities = false;
};

Plan random_plan(Random& random);
// A rate that differs by at most 1 % from any other.
double random_rate(Random& random);
RunSpec random_spec(Random& random, const Plan& plan, int id);
// The part of the facts that the options determine.
RunFacts facts_of(const RunSpec& spec, int id);

}  // namespace cronlatch::model
