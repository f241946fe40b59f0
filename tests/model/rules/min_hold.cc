// SPDX-License-Identifier: Apache-2.0
// L0: the lock stays closed for min-hold after its grant, also after a crash, and no longer. The
// same attempt group ignores it, and a revocation ends it.
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
    if (e.run.id == holder_ && (given_back || closed)) is_set_ = false;
    if (const Renewed* renewed = std::get_if<Renewed>(&e.reply); renewed && renewed->restored)
      is_set_ = false;
  }
  void lock_revoked() override {
    is_set_ = false;
    is_revoked_ = true;
  }
  void data_lost() override { is_set_ = false; }

 private:
  void judge_grant(const Execution& e, const Granted& granted) {
    if (granted.fence == fence_) return;  // a repeated answer
    const bool own_group = !group_.empty() && group_ == e.run.group;
    const Us rest = granted_ + length_ - moment().server_elapsed;
    if (is_set_ && !own_group && rest > 2)
      report(e.run, "L0: granted " + std::to_string(rest) + " us before the end of a min-hold");
    holder_ = e.run.id;
    fence_ = granted.fence;
    group_ = e.run.group;
    granted_ = moment().server_elapsed;
    length_ = e.run.min_hold;
    is_set_ = true;
    is_revoked_ = false;
  }
  void judge_busy(const Execution& e) {
    if (lost_data() || moment().stepped_back) return;
    if (is_revoked_) report(e.run, "L0: a min-hold that was revoked keeps the lock closed");
    const Us over = moment().server_elapsed - granted_ - length_;
    if (over > 2) report(e.run, "L0: closed " + std::to_string(over) + " us after a min-hold");
  }

  int holder_ = 0;
  Fence fence_ = 0;
  std::string group_;
  Us granted_ = 0, length_ = 0;
  bool is_set_ = false, is_revoked_ = false;
};

}  // namespace

std::unique_ptr<Rule> min_hold_rule() { return std::make_unique<MinHoldRule>(); }

}  // namespace cronlatch::model
