// SPDX-License-Identifier: Apache-2.0
#include "model/rules/rule.h"

namespace cronlatch::model {

std::vector<std::unique_ptr<Rule>> all_rules() {
  std::vector<std::unique_ptr<Rule>> rules;
  for (const auto create :
       {exclusion_rule, fence_rule, owner_rule, counter_rule, release_rule, takeover_rule,
        queue_rule, restore_rule, min_hold_rule, group_rule, once_rule, window_rule, lease_end_rule,
        on_lost_rule, max_run_rule, guardian_rule, exit_code_rule, credentials_rule})
    rules.push_back(create());
  return rules;
}

}  // namespace cronlatch::model
