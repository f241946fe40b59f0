// SPDX-License-Identifier: Apache-2.0
// L5: a retry of an attempt group that was granted once never skips: it waits at most 2 T and ends
// with 75. It applies to a run without a lock, too, when the store has its report.
#include <map>
#include <set>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class GroupRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (e.run.group.empty()) return;
    if (const Busy* busy = std::get_if<Busy>(&e.reply)) judge_busy(e, *busy);
    const Release* release = std::get_if<Release>(&e.request);
    const bool ran_without_lock = release != nullptr && release->verdict == RunVerdict::ungated &&
                                  !std::holds_alternative<TooLate>(e.reply);
    if (ran_without_lock || std::holds_alternative<Granted>(e.reply)) granted_.insert(e.run.group);
  }
  void finished(const RunFacts& run) override {
    if (run.launched != kNever || lost_data()) return;
    const auto at = was_granted_.find(run.id);
    const bool skipped = run.exit_code == 0 && run.last_busy_reason != BusyReason::done;
    if (skipped && at != was_granted_.end() && at->second)
      report(run, "L5: a retry of a group that was granted skips");
    const Us most = run.in_true(2 * run.ttl + run.window + 2 * kSecond) + run.stopped_total;
    if (run.exit_code == 75 && run.on_busy == OnBusy::skip &&
        run.on_store_down == OnStoreDown::fail && now() - run.began > most)
      report(run, "L5: a retry waits for more than 2 T");
  }
  void data_lost() override { granted_.clear(); }

 private:
  // The first execution that counts decides: later ones repeat its answer.
  void judge_busy(const Execution& e, const Busy& busy) {
    const Acquire& acquire = std::get<Acquire>(e.request);
    if (busy.reason == BusyReason::done) return;
    if (e.repeated && !lost_data() && contained_[e.run.id] && !busy.group_granted)
      report(e.run, "L5: a repeated reply does not contain the grant of the group");
    if (e.repeated || acquire.if_busy == IfBusy::wait) return;
    contained_[e.run.id] = busy.group_granted;
    const bool known = granted_.contains(e.run.group);
    was_granted_[e.run.id] = known;
    if (acquire.if_busy == IfBusy::skip && known && !busy.group_granted)
      report(e.run, "L5: the reply to a retry of a group does not contain its grant");
  }

  std::set<std::string> granted_;
  std::map<int, bool> was_granted_;  // before the first reply that counts
  std::map<int, bool> contained_;    // in that reply
};

}  // namespace

std::unique_ptr<Rule> group_rule() { return std::make_unique<GroupRule>(); }

}  // namespace cronlatch::model
