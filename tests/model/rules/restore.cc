// SPDX-License-Identifier: Apache-2.0
// N3: a record that the store has lost, or that is older than the caller's grant and not held, is
// written again by the renewal of its holder.
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class RestoreRule : public Rule {
 public:
  void executed(const Execution& e) override {
    const Renew* renew = std::get_if<Renew>(&e.request);
    if (renew == nullptr) return;
    const rules::HoldState state = e.before().state;
    const bool is_lost = state == rules::HoldState::none;
    const bool is_older = moment().slots == 1 && e.before().fence < renew->fence &&
                          (state == rules::HoldState::free || state == rules::HoldState::cooling);
    if ((is_lost || is_older) && std::holds_alternative<NotHolder>(e.reply))
      report(e.run, "N3: a lost record that no run holds was not written again");
    if (!std::holds_alternative<Renewed>(e.reply)) return;
    std::size_t held = 0;
    for (const rules::Slot* slot : slot_list_of(e.after))
      if (slot->claim == renew->claim && slot->state == rules::HoldState::held) ++held;
    if (held != 1) report(e.run, "N1: a run that is not the holder was renewed");
  }
};

}  // namespace

std::unique_ptr<Rule> restore_rule() { return std::make_unique<RestoreRule>(); }

}  // namespace cronlatch::model
