// SPDX-License-Identifier: Apache-2.0
// L1: a run is decided within W after the last answer, and not given up earlier. Up to 1 s more
// releases a grant whose answer may still arrive.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kGiveBack = kSecond, kTolerance = 200 * kMs;
// Between an answer and the next request: of the first run that waits, and of the others.
constexpr Us kPause = kSecond, kQueuePause = 2'300 * kMs;

class WindowRule : public Rule {
 public:
  void received(const RunFacts& run, const Reply& reply) override {
    const Busy* busy = std::get_if<Busy>(&reply);
    if (busy == nullptr) return;
    stopped_[run.id] = run.stopped_total;
    pause_[run.id] = busy->ahead && *busy->ahead > 0 ? kQueuePause : kPause;
  }
  void tree_started(const RunFacts& run) override {
    if (run.ungated) judge(run, false);
  }
  void finished(const RunFacts& run) override {
    if (run.launched == kNever && run.exit_code == 69 && run.on_store_down == OnStoreDown::fail)
      judge(run, true);
  }

 private:
  void judge(const RunFacts& run, bool may_give_back) {
    const Us from = run.last_busy == kNever ? run.began : run.last_busy;
    const Us stopped = run.stopped_total - stopped_[run.id];
    const Us longest_pause = std::clamp(run.ttl / 30, 200 * kMs, kSecond) * 5 / 4;
    const Us least = run.in_true(run.window - longest_pause) - 10 * kMs;
    const Us pause = pause_.contains(run.id) ? pause_[run.id] : kPause;
    const Us most = run.in_true(pause + run.window + (may_give_back ? kGiveBack : 0)) + kTolerance;
    const Us took = now() - from;
    if (took < least) report(run, "L1: gives up " + std::to_string(took) + " us after an answer");
    if (took - stopped > most)
      report(run, "L1: is not decided within W but after " + std::to_string(took) + " us");
  }

  std::map<int, Us> stopped_, pause_;
};

}  // namespace

std::unique_ptr<Rule> window_rule() { return std::make_unique<WindowRule>(); }

}  // namespace cronlatch::model
