// SPDX-License-Identifier: Apache-2.0
// max-run: the tree is dead kill-after and kappa later, also with on-lost=term and while background
// processes linger. A signal to the wrapper reaches the tree as long as a process is alive.
#include <csignal>

#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kLate = 600 * kMs;  // the wrapper may be stopped for half a second

class MaxRunRule : public Rule {
 public:
  void tree_ended(const RunFacts& run) override {
    if (run.max_run == 0 || run.started == kNever || run.crashed != kNever) return;
    if (run.leftovers == Leftovers::leave && run.exit_received != kNever) return;
    const Us passed = run.started + run.in_true(run.max_run);
    const Us last = passed + run.in_true(run.kill_after) + kKappa + kLate;
    if (now() > last && run.stopped_until < passed) report(run, "max-run: the tree outlives it");
  }
  void signal_handled(const RunFacts& run, int signo, bool forwarded) override {
    const bool alive = run.launched != kNever && !run.is_over() && run.tree_end_received == kNever;
    const bool left = run.leftovers == Leftovers::leave && run.exit_received != kNever;
    if (signo == SIGTERM && alive && !left && !forwarded)
      report(run, "signals: TERM does not reach the tree");
  }
};

}  // namespace

std::unique_ptr<Rule> max_run_rule() { return std::make_unique<MaxRunRule>(); }

}  // namespace cronlatch::model
