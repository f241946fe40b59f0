// SPDX-License-Identifier: Apache-2.0
// S2: fencing tokens rise in the order of grants. S4: an attempt is granted once, and a command is
// started only by the reply to it.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class FenceRule : public Rule {
 public:
  void executed(const Execution& e) override {
    const Granted* granted = std::get_if<Granted>(&e.reply);
    if (granted == nullptr) return;
    const Fence fence = granted->fence;
    const auto [at, is_new] =
        of_attempt_.try_emplace({e.run.id, std::get<Acquire>(e.request).claim.attempt}, fence);
    if (is_new && fence <= highest_)
      report(e.run, "S2: fence " + std::to_string(fence) + " after " + std::to_string(highest_));
    // A store that lost the grant may grant the attempt again, with a higher fence.
    if (!is_new && (lost_data() ? fence < at->second : fence != at->second))
      report(e.run, "S4: an attempt was granted twice");
    at->second = fence;
    highest_ = std::max(highest_, fence);
  }
  void received(const RunFacts& run, const Reply& reply) override {
    if (std::holds_alternative<Granted>(reply)) received_[run.id] = now();
  }
  void tree_started(const RunFacts& run) override {
    const auto at = received_.find(run.id);
    if (!run.ungated && (at == received_.end() || at->second != now()))
      report(run, "S4: started without a grant");
    if (run.ungated && run.on_store_down != OnStoreDown::run)
      report(run, "S4: started without a lock");
  }

 private:
  std::map<std::pair<int, std::uint32_t>, Fence> of_attempt_;
  std::map<int, Us> received_;
  Fence highest_ = 0;
};

}  // namespace

std::unique_ptr<Rule> fence_rule() { return std::make_unique<FenceRule>(); }

}  // namespace cronlatch::model
