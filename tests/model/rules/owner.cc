// SPDX-License-Identifier: Apache-2.0
// S3: only the owner changes a live lease. G5: a late request changes nothing.
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class OwnerRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (e.late && e.changed)
      report(e.run, "G5: a request that its sender had given up changed the record");
    if (std::holds_alternative<Acquire>(e.request)) return;
    for (std::size_t at = 0; at < e.heads_before.size(); ++at) judge_slot(e, at);
  }

 private:
  void judge_slot(const Execution& e, std::size_t at) {
    const LockHead& before = e.heads_before[at];
    const bool lease =
        before.state == rules::HoldState::held || before.state == rules::HoldState::revoked;
    if (!lease || before.claim.owner == e.run.owner) return;
    const auto slot_list = slot_list_of(e.after);
    if (at >= slot_list.size())
      return report(e.run, "S3: a request of another owner removed a lease");
    const rules::Slot& slot = *slot_list[at];
    // After a loss of data the holder of a newer grant may replace an older record (N3).
    if (lost_data() && std::holds_alternative<Renew>(e.request) && slot.fence > before.fence)
      return;
    if (!(LockHead{slot.state, slot.claim, slot.fence, slot.acquired} == before))
      report(e.run, "S3: a request of another owner changed the lease");
  }
};

}  // namespace

std::unique_ptr<Rule> owner_rule() { return std::make_unique<OwnerRule>(); }

}  // namespace cronlatch::model
