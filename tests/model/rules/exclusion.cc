// SPDX-License-Identifier: Apache-2.0
// S1: no more process trees of one lock are alive at the same time than it has slots. After a loss
// of data an overlap is permitted only with a run whose lease the store has not confirmed since,
// and, with one slot, for one lease.
#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class Exclusion : public Rule {
 public:
  void tree_started(const RunFacts& run) override {
    if (!run.ungated) judge_start(run);
    alive_.push_back(&run);
  }

  void tree_ended(const RunFacts& run) override {
    std::erase(alive_, &run);
    for (const auto& [a, b] : overlaps_) {
      if (a != &run && b != &run) continue;
      const bool is_open =
          std::find(alive_.begin(), alive_.end(), a == &run ? b : a) != alive_.end();
      if (is_open && !is_outside(*a) && !is_outside(*b) &&
          now() > moment().data_lost + run.ttl * 101 / 100)
        report(run, "S1: overlaps with another run one lease after a loss of data");
    }
  }

 private:
  void judge_start(const RunFacts& run) {
    std::vector<const RunFacts*> confirmed;
    for (const RunFacts* other : alive_) {
      if (is_outside(*other)) continue;
      if (!is_unconfirmed(*other) && !is_unconfirmed(run))
        confirmed.push_back(other);
      else if (moment().slots == 1)
        overlaps_.push_back({other, &run});
    }
    if (confirmed.size() >= moment().slots)
      report(run, "S1: starts while the tree of run " + std::to_string(confirmed.front()->id) +
                      " is alive");
  }
  // The options and environments for which guarantees.md excludes S1. Before the end of the lease
  // the store excludes other runs in most of them, too.
  bool is_outside(const RunFacts& run) const {
    if (run.ungated) return true;
    if (run.leftovers == Leftovers::leave && run.exit_received != kNever) return true;
    const bool outlives =
        run.on_lost != OnLost::kill || (run.crashed != kNever && run.cover == Cover::none);
    return outlives && now() >= dead_by(run);
  }
  bool is_unconfirmed(const RunFacts& run) const {
    return lost_data() && run.confirmed_executed < moment().data_lost;
  }

  std::vector<const RunFacts*> alive_;
  std::vector<std::pair<const RunFacts*, const RunFacts*>> overlaps_;
};

}  // namespace

std::unique_ptr<Rule> exclusion_rule() { return std::make_unique<Exclusion>(); }

}  // namespace cronlatch::model
