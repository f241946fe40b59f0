// SPDX-License-Identifier: Apache-2.0
// L0: a slot stays closed for min-hold after its grant, also after a crash, and no longer. The same
// attempt group ignores it, and a revocation ends it.
#include <algorithm>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class MinHoldRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (const Granted* granted = std::get_if<Granted>(&e.reply)) return judge_grant(e, *granted);
    const Busy* busy = std::get_if<Busy>(&e.reply);
    if (busy != nullptr && busy->reason == BusyReason::cooling && !e.repeated) judge_busy(e);
    const Release* release = std::get_if<Release>(&e.request);
    const bool given_back = release != nullptr && release->verdict == RunVerdict::given_back;
    const bool closed = busy != nullptr && busy->reason == BusyReason::done;
    if (given_back || closed) is_set(e.run.id, false);
    if (const Renewed* renewed = std::get_if<Renewed>(&e.reply); renewed && renewed->restored)
      forget();
  }
  void lock_revoked() override {
    forget();
    is_revoked_ = true;
  }
  void data_lost() override { forget(); }

 private:
  // A grant, and the time for which it keeps its slot closed.
  struct Hold {
    int run;
    Fence fence;
    std::string group;
    Us granted, length;
    bool is_set = true;
  };

  void forget() {
    for (Hold& hold : holds_) hold.is_set = false;
  }
  void is_set(int run, bool value) {
    for (Hold& hold : holds_)
      if (hold.run == run) hold.is_set = value;
  }
  Us rest_of(const Hold& hold) const {
    return hold.granted + hold.length - moment().server_elapsed;
  }
  void judge_grant(const Execution& e, const Granted& granted) {
    if (std::any_of(holds_.begin(), holds_.end(),
                    [&](const Hold& hold) { return hold.fence == granted.fence; }))
      return;  // a repeated answer
    // A retry of the group replaces the grant before it; with several slots perhaps another one.
    for (Hold& hold : holds_)
      if (!hold.group.empty() && hold.group == e.run.group) hold.is_set = false;
    if (moment().slots == 1) std::erase_if(holds_, [](const Hold& hold) { return !hold.is_set; });
    std::size_t closed = 0;
    Us rest = kNever;
    for (const Hold& hold : holds_) {
      if (!hold.is_set || rest_of(hold) <= 2) continue;
      ++closed;
      rest = std::min(rest, rest_of(hold));
    }
    if (closed >= moment().slots)
      report(e.run, "L0: granted " + std::to_string(rest) + " us before the end of a min-hold");
    holds_.push_back(
        {e.run.id, granted.fence, e.run.group, moment().server_elapsed, e.run.min_hold});
    is_revoked_ = false;
  }
  void judge_busy(const Execution& e) {
    if (lost_data() || moment().stepped_back) return;
    if (is_revoked_) report(e.run, "L0: a min-hold that was revoked keeps the lock closed");
    Us over = kNever;
    for (const Hold& hold : holds_) over = std::min(over, -rest_of(hold));
    if (over > 2 && over != kNever)
      report(e.run, "L0: closed " + std::to_string(over) + " us after a min-hold");
  }

  std::vector<Hold> holds_;
  bool is_revoked_ = false;
};

}  // namespace

std::unique_ptr<Rule> min_hold_rule() { return std::make_unique<MinHoldRule>(); }

}  // namespace cronlatch::model
