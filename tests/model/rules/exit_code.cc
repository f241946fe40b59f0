// SPDX-License-Identifier: Apache-2.0
// Exit codes: each follows from what happened to the run (docs/guarantees.md and the table of exit
// codes in docs/reference).
#include <map>
#include <set>

#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kTie = 10 * kMs;  // two causes within this time: either may be the first

class ExitCodeRule : public Rule {
 public:
  void received(const RunFacts& run, const Reply& reply) override {
    if (run.launched == kNever) return;
    note_expiry(run);
    if (std::holds_alternative<NotHolder>(reply) && has_tree(run)) lost_[run.id].certain = now();
  }
  void exit_handled(const RunFacts& run) override { note_expiry(run); }

  void finished(const RunFacts& run) override {
    std::set<int> expected = run.launched == kNever ? unlaunched(run) : launched(run);
    if (lost_[run.id].had_tie && run.on_lost != OnLost::warn) expected.insert(79);
    if (lost_[run.id].is_end_tie) expected.insert(run.exit_status);
    if (expected.contains(run.exit_code)) return;
    std::string codes;
    for (const int code : expected) codes += " " + std::to_string(code);
    report(run, "exit code " + std::to_string(run.exit_code) + ", expected:" + codes);
  }

 private:
  struct Lost {
    Us certain = kNever;      // NotHolder, or D has passed
    Us expiring = kNever;     // the stop deadline
    bool is_tie = false;      // `expiring` is: the renewal arrived at the stop deadline
    bool had_tie = false;     // at any time: 79 is right, too
    bool is_end_tie = false;  // D passed when the tree ended: the child's code is right, too
  };
  static bool has_tree(const RunFacts& run) {
    return run.tree_end_received == kNever &&
           !(run.leftovers == Leftovers::leave && run.exit_received != kNever);
  }
  void note_expiry(const RunFacts& run) {
    if (run.ungated || run.confirmed_sent == kNever || is_closed_[run.id]) return;
    Lost& lost = lost_[run.id];
    if ((lost.expiring == kNever || lost.is_tie) && now() >= term_by(run) - kTie) {
      lost.expiring = term_by(run);
      lost.is_tie = now() < term_by(run) + kTie;
      lost.had_tie = lost.had_tie || lost.is_tie;
    }
    if (lost.certain == kNever && now() >= dead_by(run) - kTie) {
      lost.certain = dead_by(run);
      lost.is_end_tie = now() < dead_by(run) + kTie;
    }
    is_closed_[run.id] = !has_tree(run);
  }

  std::set<int> launched(const RunFacts& run) {
    if (run.cannot_start) return {126};
    const Lost lost = run.ungated ? Lost{} : lost_[run.id];
    const Us exited = run.exit_received;
    const bool lingered = run.leftovers == Leftovers::end && exited != kNever;
    // Background processes that are being stopped: only the loss itself counts, and max-run not.
    Us stop = lingered && exited < lost.expiring - kTie ? lost.certain
                                                        : std::min(lost.certain, lost.expiring);
    if (run.on_lost == OnLost::warn) stop = kNever;
    Us limit = kNever;
    if (run.max_run > 0 && run.started != kNever) {
      limit = run.started + run.in_true(run.max_run);
      const Us end = run.leftovers == Leftovers::wait ? run.tree_end_received : exited;
      if (end < limit - kTie) limit = kNever;
    }
    // A wrapper that was stopped at the first cause finds both.
    const Us first = std::min(limit, stop);
    const bool tie = limit != kNever && stop != kNever &&
                     (std::abs(limit - stop) < kStopTie || run.stopped_until > first);
    if (tie) return {79, 124, run.exit_status};
    if (stop == lost.expiring && lost.is_tie)
      return {79, limit == kNever ? 79 : 124, run.exit_status};
    if (stop < limit) return with_child(run, 79, stop);
    if (limit != kNever) return with_child(run, 124, limit);
    return {run.exit_status};
  }
  // The child's own code is right, too, when the cause is within a tie of the end.
  std::set<int> with_child(const RunFacts& run, int code, Us cause) {
    Us end = run.tree_end_received != kNever ? run.tree_end_received : run.exit_received;
    // While background processes are being stopped, only the loss itself alters the exit code.
    if (run.leftovers == Leftovers::end && cause != lost_[run.id].certain &&
        run.exit_received != kNever)
      end = run.exit_received;
    if (end >= cause + kTie) return {code};
    return {code, run.exit_status};
  }

  std::set<int> unlaunched(const RunFacts& run) {
    if (run.canceled != kNever) return {128 + 15};
    std::set<int> codes;
    const Us waited = now() - run.began + kTie;
    const bool timed_out = run.wait_timeout > 0 && waited >= run.in_true(run.wait_timeout);
    if (run.last_busy != kNever) {
      const bool done = run.last_busy_reason == BusyReason::done;
      if (done)
        codes = {0};
      else if (run.on_busy == OnBusy::skip && !run.group_granted)
        codes = {0};
      else if (run.on_busy == OnBusy::fail && !run.group_granted)
        codes = {75};
      else if (timed_out)
        codes = {75};
      if (!done && run.on_busy != OnBusy::wait && run.group_granted &&
          waited >= run.in_true(2 * run.ttl))
        codes = {75};
    }
    if (run.last_busy == now() || run.ran_skip_command) return codes;
    codes.clear();
    const bool waits = run.on_store_down == OnStoreDown::wait;
    if (run.refused == now() && !(waits && run.refused_by_tls)) return {77};
    if (run.on_store_down == OnStoreDown::fail || (waits && timed_out)) codes.insert(69);
    return codes;
  }

  static constexpr Us kStopTie = 600 * kMs;
  std::map<int, Lost> lost_;
  std::map<int, bool> is_closed_;
};

}  // namespace

std::unique_ptr<Rule> exit_code_rule() { return std::make_unique<ExitCodeRule>(); }

}  // namespace cronlatch::model
