// SPDX-License-Identifier: Apache-2.0
// on-lost: what a run that lost its lease sends to its tree. kill: TERM at the stop deadline, KILL
// at once when another run may hold the lock. term: never KILL. warn: nothing.
#include <csignal>

#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kLate = 600 * kMs;  // the wrapper may be stopped for half a second

bool has_other_cause(const RunFacts& run, Us now) {
  const bool ends_leftovers = run.exit_received != kNever && run.leftovers == Leftovers::end;
  const bool ran_too_long = run.max_run > 0 && run.started != kNever &&
                            now >= run.started + run.in_true(run.max_run) - 10 * kMs;
  return ends_leftovers || ran_too_long;
}

class OnLostRule : public Rule {
 public:
  void signaled(const RunFacts& run, int signo, bool forwarded) override {
    if (forwarded || has_other_cause(run, now())) return;
    if (signo == SIGKILL && run.on_lost != OnLost::kill)
      report(run, "on-lost: a command is killed without on-lost=kill");
    if (signo == SIGTERM && run.on_lost == OnLost::warn)
      report(run, "on-lost: on-lost=warn sends TERM");
  }
  void tree_ended(const RunFacts& run) override {
    if (run.ungated || run.crashed != kNever || run.on_lost == OnLost::warn) return;
    const bool lost = run.not_holder != kNever && run.not_holder < now();
    const bool at_once = run.on_lost == OnLost::kill && run.lost_reason != LostReason::revoked;
    if (lost && at_once && run.kill_sent > run.not_holder)
      report(run, "on-lost: no KILL at once after the loss of the lease");
    if (lost && std::min(run.term_sent, run.kill_sent) > run.not_holder)
      report(run, "on-lost: no TERM at once after the loss of the lease");
    const Us last = std::min(kill_by(run), run.not_holder + run.in_true(run.kill_after));
    if (lost && run.on_lost == OnLost::kill && run.stopped_until < last &&
        now() > last + kLate + kKappa)
      report(run, "on-lost: a revoked command outlives kill-after");
    if (!has_left(run) && now() > term_by(run) + kLate && run.stopped_until < term_by(run) &&
        std::min(run.term_sent, run.kill_sent) == kNever)
      report(run, "on-lost: no TERM at the stop deadline");
  }

 private:
  static bool has_left(const RunFacts& run) {
    return run.leftovers == Leftovers::leave && run.exit_received != kNever;
  }
};

}  // namespace

std::unique_ptr<Rule> on_lost_rule() { return std::make_unique<OnLostRule>(); }

}  // namespace cronlatch::model
