// SPDX-License-Identifier: Apache-2.0
// L2: a lock can be granted T after the last renewal, and not before (AQ1); the first run that
// waits sends a request at least once a second, the others at least every 2.2 s. L7: a backward
// step of the store's clock extends a lease by at most T, counted from the next request. K2: while
// a lease is live, no other run is granted its identity.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class TakeoverRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (std::holds_alternative<Acquire>(e.request)) judge_acquire(e);
    if (std::holds_alternative<Granted>(e.reply) || std::holds_alternative<Renewed>(e.reply)) {
      const Us elapsed = moment().server_elapsed;
      Lease& lease = leases_[grant_of(e)];
      const Us granted = std::holds_alternative<Granted>(e.reply) ? elapsed : lease.granted;
      lease = {&e.run, granted, elapsed, elapsed, e.run.ttl, e.run.min_hold};
    } else if (std::holds_alternative<Released>(e.reply)) {
      leases_[grant_of(e)].released = true;
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
  void data_lost() override {
    for (auto& [grant, lease] : leases_) lease.uncertain = true;
  }

 private:
  using Grant = std::pair<int, std::uint32_t>;  // run and attempt
  static Grant grant_of(const Execution& e) {
    const auto attempt = [](const auto& request) { return request.claim.attempt; };
    return {e.run.id, std::visit(attempt, e.request)};
  }

  struct Lease {
    const RunFacts* run = nullptr;
    Us granted = 0;
    Us extended = 0;
    Us latest = 0;  // the lease may last T from here: later after a backward step
    Us ttl = 0, min_hold = 0;
    bool released = false;
    bool uncertain = false;  // the store may have lost it, or its release
  };

  void judge_acquire(const Execution& e) {
    if (std::holds_alternative<TooLate>(e.reply)) return;
    const Us elapsed = moment().server_elapsed;
    // Leases of others that have not ended; slots that may be closed, and when the last lease
    // ended.
    std::size_t live = 0, closed = 0;
    bool is_claimed = false, is_perhaps_claimed = false;
    Us rest = kNever, over = kNever;
    for (auto& [grant, lease] : leases_) {
      if (unclamped_) lease.latest = std::max(lease.latest, elapsed);
      const Us until = lease.extended + lease.ttl - elapsed;
      const Us since = elapsed - lease.latest - lease.ttl;
      if (grant.first != e.run.id && !lease.released && !lease.uncertain && until > 2) {
        ++live;
        rest = std::min(rest, until);
        is_claimed |= has_identity_of(lease, e.run);
      }
      if (since > 2) over = std::min(over, since);
      const bool is_lease = since <= 2 && (!lease.released || lease.uncertain);
      is_perhaps_claimed |= is_lease && has_identity_of(lease, e.run);
      if (is_lease || is_cooling(lease, elapsed)) ++closed;
    }
    unclamped_ = false;
    const std::size_t slots = moment().slots;
    if (std::holds_alternative<Granted>(e.reply) && live >= slots)
      report(e.run, "AQ1: granted " + std::to_string(rest) + " us before the end of a lease");
    if (std::holds_alternative<Granted>(e.reply) && is_claimed)
      report(e.run, "K2: granted an identity that another run has");
    const Busy* busy = std::get_if<Busy>(&e.reply);
    if (busy != nullptr && busy->reason == BusyReason::held && !e.repeated && closed < slots &&
        !is_perhaps_claimed)
      report(e.run, "L2: refused " + std::to_string(over) + " us after the end of a lease");
  }

  static bool has_identity_of(const Lease& lease, const RunFacts& run) {
    return !run.once.empty() && lease.run != nullptr && lease.run->job == run.job &&
           lease.run->once == run.once;
  }
  // With several slots a busy reply names the slot that is free first; the others may be cooling.
  bool is_cooling(const Lease& lease, Us elapsed) const {
    return moment().slots > 1 &&
           (moment().stepped_back || elapsed <= lease.granted + lease.min_hold + 2);
  }

  struct Waiting {
    Us since, stopped, longest;
  };
  std::map<Grant, Lease> leases_;
  bool unclamped_ = false;
  std::map<int, Waiting> waiting_;
};

}  // namespace

std::unique_ptr<Rule> takeover_rule() { return std::make_unique<TakeoverRule>(); }

}  // namespace cronlatch::model
