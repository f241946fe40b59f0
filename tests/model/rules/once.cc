// SPDX-License-Identifier: Apache-2.0
// K3: a done identity is never granted again. K5: an identity is done only after its work. R4: the
// mark is written, or the run reports that it could not be written, after the promised time.
#include <set>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kMarkTime = 120 * kSecond, kReportTime = kSecond, kLongestRetry = 1'100 * kMs;

class OnceRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (e.run.once.empty()) return;
    const std::string identity = e.run.job + "/" + e.run.once;
    if (const Release* release = std::get_if<Release>(&e.request);
        release != nullptr && release->mark_done && !std::holds_alternative<TooLate>(e.reply)) {
      done_.insert(identity);
      ever_done_.insert(identity);
      if (!e.run.is_work_done()) report(e.run, "R4: marks work as done that is not done");
    }
    if (std::holds_alternative<Granted>(e.reply) && done_.contains(identity))
      report(e.run, "K3: a done identity is granted");
    const Busy* busy = std::get_if<Busy>(&e.reply);
    if (busy != nullptr && busy->reason == BusyReason::done && !ever_done_.contains(identity))
      report(e.run, "K5: refused as done, and no run has done the work");
  }
  void finished(const RunFacts& run) override {
    if (run.once.empty()) return;
    const bool done = run.is_work_done();
    if (run.not_marked) {
      Us ends = run.tree_end_received + run.in_true(kMarkTime);
      if (run.leftovers == Leftovers::leave) ends = run.exit_received + run.in_true(kMarkTime);
      if (run.terminated != kNever)
        ends = std::min(ends, run.terminated + run.in_true(run.grace_period - kReportTime));
      if (!done) report(run, "R4: reports a missing mark of work that is not done");
      if (run.terminations < 2 && now() < ends - kLongestRetry)
        report(run, "R4: gives up the mark too early");
    } else if (done && !ever_done_.contains(run.job + "/" + run.once)) {
      report(run, "R4: the work is done, neither marked nor reported");
    }
  }
  void data_lost() override { done_.clear(); }

 private:
  std::set<std::string> done_, ever_done_;
};

}  // namespace

std::unique_ptr<Rule> once_rule() { return std::make_unique<OnceRule>(); }

}  // namespace cronlatch::model
