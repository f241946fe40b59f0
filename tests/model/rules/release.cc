// SPDX-License-Identifier: Apache-2.0
// S5: the lock is never released while a process of the command is alive.
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class ReleaseRule : public Rule {
 public:
  void sent(const RunFacts& run, const Request& request) override {
    if (std::holds_alternative<Release>(request) && run.tree_alive &&
        run.leftovers != Leftovers::leave)
      report(run, "S5: releases the lock while its tree is alive");
  }
};

}  // namespace

std::unique_ptr<Rule> release_rule() { return std::make_unique<ReleaseRule>(); }

}  // namespace cronlatch::model
