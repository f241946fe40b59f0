// SPDX-License-Identifier: Apache-2.0
// Guardian: when the wrapper dies, the whole tree ends within 0.2 s. When the wrapper is stopped,
// the tree ends by D (lease_end.cc).
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kEndsWithin = 200 * kMs;

class GuardianRule : public Rule {
 public:
  void tree_ended(const RunFacts& run) override {
    if (run.crashed != kNever && run.cover != Cover::none && now() > run.crashed + kEndsWithin)
      report(run, "guardian: the tree lived " + std::to_string(now() - run.crashed) +
                      " us longer than its wrapper");
  }
};

}  // namespace

std::unique_ptr<Rule> guardian_rule() { return std::make_unique<GuardianRule>(); }

}  // namespace cronlatch::model
