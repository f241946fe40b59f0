// SPDX-License-Identifier: Apache-2.0
// C1: acquired = released + stolen + revoked + open. C2: each run is counted once.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

std::int64_t outcomes(const rules::Record& record) {
  std::int64_t sum = 0;
  for (const auto& [job, counters] : record.jobs)
    for (const auto& [name, value] : counters.values)
      if (name.starts_with("runs_")) sum += value;
  return sum;
}

class CounterRule : public Rule {
 public:
  void executed(const Execution& e) override {
    const rules::Record& record = e.after;
    for (const auto& [job, counters] : record.jobs) {
      std::int64_t open = 0;
      for (const rules::Slot* slot : slot_list_of(record))
        if (slot->state == rules::HoldState::held && slot->identity.job == job) ++open;
      const std::int64_t closed =
          counters.get("released") + counters.get("stolen") + counters.get("revoked");
      if (counters.get("acquired") != closed + open)
        report(e.run, "C1: acquired " + std::to_string(counters.get("acquired")) + ", closed " +
                          std::to_string(closed) + ", open " + std::to_string(open));
    }
    const std::int64_t sum = outcomes(record);
    const std::int64_t added = sum - sum_;
    sum_ = sum;
    // A run without a lock may have been counted as busy in a request whose answer was lost.
    if (lost_data() || added == 0 || e.run.on_store_down == OnStoreDown::run) return;
    if (added < 0 || added > 1 || ++counted_[e.run.id] > 1)
      report(e.run, "C2: the run was counted more than once");
  }

 private:
  std::int64_t sum_ = 0;
  std::map<int, int> counted_;
};

}  // namespace

std::unique_ptr<Rule> counter_rule() { return std::make_unique<CounterRule>(); }

}  // namespace cronlatch::model
