// SPDX-License-Identifier: Apache-2.0
// Q2, AQ6: runs that wait are granted the lock in the order of their first requests, and before all
// others. With several slots, as many of them as there are free slots. L4: a reservation ends after
// 2 s, and then each of them is granted the lock (judged with one slot). With several slots, a
// newcomer can be granted the slot of a run that was silent for 3 s, and the reservations of the
// runs behind it remain. It is judged while the store loses no data and its clock does not step
// back.
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
    std::erase_if(places_, [&](const auto& place) { return at - place.second.asked >= kPlace; });
    if (std::holds_alternative<Granted>(e.reply)) {
      bool is_repeated = false;
      for (const LockHead& head : e.heads_before)
        is_repeated |= head.state == rules::HoldState::held &&
                       head.claim == std::get<Acquire>(e.request).claim;
      if (!is_repeated) {
        judge_grant(e, at);
        pass_over(owner, at);
      }
      places_.erase(owner);
      groups_[owner] = e.run.group;
      if (moment().slots == 1 || places_.empty()) reserved_ = kNever;
    } else if (const Busy* busy = std::get_if<Busy>(&e.reply)) {
      judge_busy(e, *busy, at);
      keep(owner, *busy, std::get<Acquire>(e.request), at);
      const bool passes_on = busy->reason == BusyReason::done;
      if (!busy->wake.empty()) reserve(at, passes_on);
    } else if (const Released* released = std::get_if<Released>(&e.reply)) {
      if (!released->wake.empty()) reserve(at, true);
    } else if (const NotHolder* left = std::get_if<NotHolder>(&e.reply);
               left != nullptr && std::holds_alternative<Release>(e.request)) {
      places_.erase(owner);
      if (!left->wake.empty()) reserve(at, true);
    }
  }

 private:
  struct Waiter {
    int order;
    Us asked;
    Us passed_over = kNever;  // when a newcomer was granted a slot before it
  };

  bool has_place(const std::string& owner, Us at) const {
    const auto place = places_.find(owner);
    return place != places_.end() && at - place->second.asked < kPlace;
  }
  // `is_new`: it replaces an earlier one.
  void reserve(Us at, bool is_new) {
    if (reserved_ == kNever || (is_new && moment().slots == 1)) reserved_ = at;
  }
  bool has_lapsed(Us at) const { return reserved_ != kNever && at >= reserved_ + kTurn - kExact; }

  void judge_grant(const Execution& e, Us at) {
    if (is_retry(e) || e.before().state == rules::HoldState::none) return;
    const std::string& owner = e.run.owner;
    const bool waits = has_place(owner, at);
    std::size_t recent = 0, earlier = 0;
    std::string one;
    for (const auto& [other, place] : places_) {
      if (other == owner) continue;
      const Us silent = at - place.asked;
      if (!waits && silent < kNewcomer - kExact) ++recent, one = other;
      const bool has_lost_slot =
          place.passed_over != kNever && at <= place.passed_over + kTurn + kExact;
      if (waits && place.order < places_.at(owner).order && silent < kPlace - kExact &&
          !has_lost_slot)
        ++earlier, one = other;
    }
    const std::size_t free = moment().slots - std::min(e.live_before, moment().slots - 1);
    if (recent >= free) report(e.run, "AQ6: a newcomer is granted the lock before " + one);
    if (earlier >= free && !has_lapsed(at)) report(e.run, "Q2: is granted the lock before " + one);
  }
  // A newcomer is granted the lock: reservations that runs have now last for another kTurn at most.
  void pass_over(const std::string& owner, Us at) {
    if (moment().slots == 1 || has_place(owner, at)) return;
    for (auto& [other, place] : places_)
      if (at - place.asked >= kNewcomer - kExact) place.passed_over = at;
  }
  // Perhaps within its own min-hold: its group had the last grant of a slot.
  bool is_retry(const Execution& e) const {
    if (e.run.group.empty()) return false;
    for (const LockHead& head : e.heads_before) {
      const auto group = groups_.find(head.claim.owner);
      if (group != groups_.end() && group->second == e.run.group) return true;
    }
    return false;
  }

  void judge_busy(const Execution& e, const Busy& busy, Us at) {
    if (moment().slots > 1 || busy.reason != BusyReason::queued || e.repeated ||
        !has_place(e.run.owner, at))
      return;
    if (reserved_ != kNever && at > reserved_ + kTurn + kExact)
      report(e.run, "L4: is refused after the end of a reservation");
  }

  void keep(const std::string& owner, const Busy& busy, const Acquire& acquire, Us at) {
    if (busy.ahead && !has_place(owner, at)) places_[owner] = {.order = ++tickets_, .asked = at};
    if (busy.ahead) places_[owner].asked = at;
    // K2: while another run has the identity, a run has no place.
    const bool is_claimed = moment().slots > 1 && !acquire.identity.once.empty() && !busy.ahead;
    if (busy.reason == BusyReason::done || acquire.if_busy == IfBusy::timed_out || is_claimed)
      places_.erase(owner);
  }

  std::map<std::string, Waiter> places_;
  int tickets_ = 0;
  std::map<std::string, std::string> groups_;  // owner of a grant -> its group
  // The start of the reservation; with several slots of the first one since runs wait.
  Us reserved_ = kNever;
};

}  // namespace

std::unique_ptr<Rule> queue_rule() { return std::make_unique<QueueRule>(); }

}  // namespace cronlatch::model
