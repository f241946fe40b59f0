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
    const bool lease =
        e.before.state == rules::HoldState::held || e.before.state == rules::HoldState::revoked;
    if (!lease || e.before.claim.owner == e.run.owner || std::holds_alternative<Acquire>(e.request))
      return;
    // After a loss of data the holder of a newer grant may replace an older record (N3).
    if (lost_data() && std::holds_alternative<Renew>(e.request) && e.after.fence > e.before.fence)
      return;
    const LockHead after{e.after.state, e.after.claim, e.after.fence, e.after.acquired};
    if (!(after == e.before)) report(e.run, "S3: a request of another owner changed the lease");
  }
};

}  // namespace

std::unique_ptr<Rule> owner_rule() { return std::make_unique<OwnerRule>(); }

}  // namespace cronlatch::model
