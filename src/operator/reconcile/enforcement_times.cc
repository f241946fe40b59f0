// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/enforcement_times.h"

#include "base/digest.h"
#include "kube/json.h"

namespace cronlatch::op {

bool EnforcementTimes::update(const Settings& settings, WallTime now) {
  const EnforcementTimes before = *this;
  if (gating == WallTime{}) gating = now;
  kube::Json all = kube::Json::array();
  for (const Selection& rule : settings.select)
    all.push_back({rule.namespace_name, rule.name, rule.labels, rule.annotations});
  if (const std::string digest = short_digest(kube::to_text(all), 20); digest != rules) {
    rules = digest;
    select = now;
  }
  return *this != before;
}

}  // namespace cronlatch::op
