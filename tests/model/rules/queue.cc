// SPDX-License-Identifier: Apache-2.0
// Q2, AQ6: runs that wait are granted the lock in the order of their first requests, and before all
// others. L4: a reservation ends after 2 s, and then each of them is granted the lock. It is judged
// while the store loses no data and its clock does not step back.
#include <map>

#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

constexpr Us kPlace = 6 * kSecond, kNewcomer = 3 * kSecond, kTurn = 2 * kSecond;
constexpr Us kExact = 2;  // the store's time is rounded

class QueueRule : public Rule {
 public:
  void executed(const Execution& e) override {
    if (lost_data() || moment().stepped_back || std::holds_alternative<TooLate>(e.reply)) return;
    const Us at = moment().server_elapsed;
    const std::string& owner = e.run.owner;
    if (std::holds_alternative<Granted>(e.reply)) {
      const bool is_repeated = e.before.state == rules::HoldState::held &&
                               e.before.claim == std::get<Acquire>(e.request).claim;
      if (!is_repeated) judge_grant(e, at);
      places_.erase(owner);
      group_ = e.run.group;
      reserved_ = kNever;
    } else if (const Busy* busy = std::get_if<Busy>(&e.reply)) {
      judge_busy(e, *busy, at);
      keep(owner, *busy, std::get<Acquire>(e.request), at);
      const bool passes_on = busy->reason == BusyReason::done;
      if (!busy->wake.empty() && (passes_on || reserved_ == kNever)) reserved_ = at;
    } else if (const Released* released = std::get_if<Released>(&e.reply)) {
      if (!released->wake.empty()) reserved_ = at;
    } else if (const NotHolder* left = std::get_if<NotHolder>(&e.reply);
               left != nullptr && std::holds_alternative<Release>(e.request)) {
      places_.erase(owner);
      if (!left->wake.empty()) reserved_ = at;
    }
  }

 private:
  struct Waiter {
    int order;
    Us asked;
  };

  bool has_place(const std::string& owner, Us at) const {
    const auto place = places_.find(owner);
    return place != places_.end() && at - place->second.asked < kPlace;
  }
  bool has_lapsed(Us at) const { return reserved_ != kNever && at >= reserved_ + kTurn - kExact; }

  void judge_grant(const Execution& e, Us at) {
    // A retry within its own min-hold, or a lock without a record.
    if ((!group_.empty() && e.run.group == group_) || e.before.state == rules::HoldState::none)
      return;
    const std::string& owner = e.run.owner;
    const bool waits = has_place(owner, at);
    for (const auto& [other, place] : places_) {
      if (other == owner) continue;
      const Us silent = at - place.asked;
      if (!waits && silent < kNewcomer - kExact)
        report(e.run, "AQ6: a newcomer is granted the lock before " + other);
      if (waits && place.order < places_.at(owner).order && silent < kPlace - kExact &&
          !has_lapsed(at))
        report(e.run, "Q2: is granted the lock before " + other);
    }
  }

  void judge_busy(const Execution& e, const Busy& busy, Us at) {
    if (busy.reason != BusyReason::queued || e.repeated || !has_place(e.run.owner, at)) return;
    if (reserved_ != kNever && at > reserved_ + kTurn + kExact)
      report(e.run, "L4: is refused after the end of a reservation");
  }

  void keep(const std::string& owner, const Busy& busy, const Acquire& acquire, Us at) {
    if (busy.ahead && !has_place(owner, at)) places_[owner] = {++tickets_, at};
    if (busy.ahead) places_[owner].asked = at;
    if (busy.reason == BusyReason::done || acquire.if_busy == IfBusy::timed_out)
      places_.erase(owner);
  }

  std::map<std::string, Waiter> places_;
  int tickets_ = 0;
  std::string group_;     // of the last grant
  Us reserved_ = kNever;  // the start of the reservation
};

}  // namespace

std::unique_ptr<Rule> queue_rule() { return std::make_unique<QueueRule>(); }

}  // namespace cronlatch::model
