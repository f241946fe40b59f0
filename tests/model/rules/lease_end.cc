// SPDX-License-Identifier: Apache-2.0
// D: all processes of the command have ended by s + T - epsilon.
#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class LeaseEndRule : public Rule {
 public:
  void tree_ended(const RunFacts& run) override {
    if (run.ungated || run.on_lost != OnLost::kill) return;
    if (run.crashed != kNever && run.cover == Cover::none) return;
    if (run.leftovers == Leftovers::leave && run.exit_received != kNever) return;
    if (now() > dead_by(run) + 2 * kMs)
      report(run, "D: a process lived " + std::to_string(now() - dead_by(run)) + " us too long");
  }
};

}  // namespace

std::unique_ptr<Rule> lease_end_rule() { return std::make_unique<LeaseEndRule>(); }

}  // namespace cronlatch::model
