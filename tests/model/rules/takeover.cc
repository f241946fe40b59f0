// SPDX-License-Identifier: Apache-2.0
// L2: a lock can be granted T after the last renewal, and not before (AQ1); the first run that
// waits sends a request at least once a second, the others at least every 2.2 s. L7: a backward
// step of the store's clock extends a lease by at most T, counted from the next request.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class TakeoverRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (std::holds_alternative<Acquire>(e.request)) judge_acquire(e);
    const bool mine = holder_ == e.run.id;
    if (std::holds_alternative<Granted>(e.reply) || std::holds_alternative<Renewed>(e.reply)) {
      holder_ = e.run.id;
      extended_ = latest_ = moment().server_elapsed;
      ttl_ = e.run.ttl;
      released_ = false;
    } else if (std::holds_alternative<Released>(e.reply) && mine) {
      released_ = true;
    } else if (const Busy* busy = std::get_if<Busy>(&e.reply);
               busy != nullptr && busy->reason == BusyReason::done && mine) {
      released_ = true;  // K3
    }
  }
  void received(const RunFacts& run, const Reply& reply) override {
    const Busy* busy = std::get_if<Busy>(&reply);
    if (busy == nullptr) return;
    const bool is_first = !busy->ahead || *busy->ahead == 0;
    waiting_[run.id] = {now(), run.stopped_total, is_first ? kSecond : 2'300 * kMs};
  }
  void sent(const RunFacts& run, const Request& request) override {
    const auto at = waiting_.find(run.id);
    if (at == waiting_.end()) return;
    const Us pause = now() - at->second.since - (run.stopped_total - at->second.stopped);
    if (std::holds_alternative<Acquire>(request) && pause > at->second.longest)
      report(run, "L2: a waiting run paused for " + std::to_string(pause) + " us");
    waiting_.erase(at);
  }
  void clock_stepped(Us by) override { unclamped_ = unclamped_ || by < 0; }
  void data_lost() override { released_ = true; }

 private:
  void judge_acquire(const Execution& e) {
    if (std::holds_alternative<TooLate>(e.reply)) return;
    const Us elapsed = moment().server_elapsed;
    if (unclamped_) {
      latest_ = std::max(latest_, elapsed);
      unclamped_ = false;
    }
    const Us rest = extended_ + ttl_ - elapsed;
    const Us over = elapsed - latest_ - ttl_;
    if (std::holds_alternative<Granted>(e.reply) && holder_ != e.run.id && !released_ && rest > 2)
      report(e.run, "AQ1: granted " + std::to_string(rest) + " us before the end of a lease");
    const Busy* busy = std::get_if<Busy>(&e.reply);
    if (busy != nullptr && busy->reason == BusyReason::held && !e.repeated && over > 2)
      report(e.run, "L2: refused " + std::to_string(over) + " us after the end of a lease");
  }

  struct Waiting {
    Us since, stopped, longest;
  };
  int holder_ = 0;
  Us extended_ = 0, ttl_ = 0;
  Us latest_ = 0;  // the lease may last T from here: later after a backward step
  bool released_ = true, unclamped_ = false;
  std::map<int, Waiting> waiting_;
};

}  // namespace

std::unique_ptr<Rule> takeover_rule() { return std::make_unique<TakeoverRule>(); }

}  // namespace cronlatch::model
