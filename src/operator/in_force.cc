// SPDX-License-Identifier: Apache-2.0
#include "operator/in_force.h"

#include "kube/json.h"
#include "operator/digest.h"

namespace cronlatch::op {

bool InForce::enforce(const Settings& settings, WallTime now) {
  const InForce before = *this;
  if (gating == WallTime{}) gating = now;
  kube::Json all = kube::Json::array();
  for (const Selection& rule : settings.select)
    all.push_back({rule.namespace_name, rule.name, rule.labels, rule.annotations});
  if (const std::string now_set = digest(kube::to_text(all)); now_set != rules) {
    rules = now_set;
    select = now;
  }
  return *this != before;
}

}  // namespace cronlatch::op
