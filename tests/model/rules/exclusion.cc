// SPDX-License-Identifier: Apache-2.0
// S1: the lifetimes of the process trees of one lock never overlap. After a loss of data an overlap
// is permitted only with a run whose lease the store has not confirmed since, and for one lease.
#include "model/rules/lease_times.h"
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class Exclusion : public Rule {
 public:
  void tree_started(const RunFacts& run) override {
    for (const RunFacts* other : alive_) {
      if (is_outside(*other) || run.ungated) continue;
      if (is_unconfirmed(*other) || is_unconfirmed(run)) {
        overlaps_.push_back({other, &run});
        continue;
      }
      report(run, "S1: starts while the tree of run " + std::to_string(other->id) + " is alive");
    }
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
