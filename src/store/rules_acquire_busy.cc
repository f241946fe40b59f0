// SPDX-License-Identifier: Apache-2.0
// Acquire: the busy answer, what it counts, and the place of a run that waits (K3, L5, C2, Q1 to
// Q7).
#include <algorithm>
#include <utility>

#include "store/rules_acquire.h"

namespace cronlatch::rules {

namespace {

void describe(Busy& busy, const Slot& slot, ServerTime now, ServerTime ends) {
  busy.holder = slot.identity.holder;
  busy.job = slot.identity.job;
  busy.fence = slot.fence;
  busy.held_for = std::max(now - slot.acquired, Micros{0});
  busy.remaining = std::max(ends - now, Micros{0});
}

Busy busy_answer(const Record& record, BusyReason reason, ServerTime now, Expiry expiry,
                 const ForeignKey* foreign) {
  Busy busy;
  busy.reason = reason;
  if (reason == BusyReason::queued) {
    busy.remaining = until_turn(record, now);
    return busy;
  }
  const KeyState key = key_state(record.shared, foreign, now);
  if (reason == BusyReason::held && is_blocked(record, key, now, expiry)) {
    busy.holder = foreign_holder(foreign->format);
    busy.remaining = key.remaining;
    return busy;
  }
  const Slot& slot = next_to_end(record, now, expiry);
  if (reason == BusyReason::done || slot.state == HoldState::none || slot.state == HoldState::free)
    return busy;
  // Without a lease only a min-hold has an end time.
  describe(busy, slot, now,
           reason == BusyReason::cooling ? end_of(slot, now, expiry) : slot.expires);
  return busy;
}

void count_skip(Record& record, const std::string& job, std::string_view reason, ServerTime now) {
  count(record, job, reason);
  count(record, job, "runs_skipped");
  stamp(record, job, "last_skip", now);
}

BusyReason reason_for(const Record& record, ServerTime now, Expiry expiry, bool is_free,
                      const ForeignKey* foreign) {
  if (is_free) return BusyReason::queued;
  if (is_blocked(record, key_state(record.shared, foreign, now), now, expiry))
    return BusyReason::held;
  const Slot& slot = next_to_end(record, now, expiry);
  const bool cooling = (slot.state == HoldState::cooling && expiry != Expiry::holder_present) ||
                       crashed_in_min_hold(slot, now, expiry);
  return cooling ? BusyReason::cooling : BusyReason::held;
}

Answer answer_for(BusyReason reason) {
  switch (reason) {
    case BusyReason::held:
      return Answer::busy_held;
    case BusyReason::cooling:
      return Answer::busy_cooling;
    case BusyReason::done:
      return Answer::busy_done;
    case BusyReason::queued:
      return Answer::busy_queued;
  }
  return Answer::busy_held;
}

// A run that waits keeps its place or gets one. Not while another run has its identity (`claimed`):
// its place would keep free slots from the other runs.
void wait_in_order(Record& record, const Acquire& request, ServerTime now,
                   const std::optional<FreeForOthers>& free, const Slot* claimed, Busy& busy) {
  const std::string& owner = request.claim.owner;
  const bool ends = request.if_busy == IfBusy::timed_out || claimed != nullptr;
  const bool probes = request.if_busy == IfBusy::probe;
  const bool waits = !ends && (request.if_busy == IfBusy::wait || (!probes && busy.group_granted));
  if (!waits && !ends && !free) return;
  const Place place = free ? free->place : open_queue(record, owner, now);
  if (ends) busy.wake = leave_queue(record, owner, place, now);
  if (free) {
    if (std::string reserved = reserve(record, free->slot_list, now); !reserved.empty())
      busy.wake = std::move(reserved);
    busy.remaining = until_turn(record, now);
  }
  if (waits) busy.ahead = keep_place(record, owner, place, now);
}

}  // namespace

std::optional<BusyReason> counted_busy(const Record& record, const Claim& claim, ServerTime now) {
  if (answered(record, claim, Answer::busy_held, now)) return BusyReason::held;
  if (answered(record, claim, Answer::busy_cooling, now)) return BusyReason::cooling;
  if (answered(record, claim, Answer::busy_done, now)) return BusyReason::done;
  if (answered(record, claim, Answer::busy_queued, now)) return BusyReason::queued;
  return std::nullopt;
}

Busy repeated_busy(const Record& record, const Claim& claim, BusyReason reason, ServerTime now,
                   Expiry expiry, const ForeignKey* foreign) {
  Busy busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = answered(record, claim, Answer::group_granted, now);
  return busy;
}

Busy refuse_done(Record& record, const Acquire& request, ServerTime now, Expiry expiry,
                 Waiting waiting, ForeignKey* foreign) {
  count_skip(record, request.identity.job, "skipped_done", now);
  remember(record, request.claim, Answer::busy_done, now, request.ttl);
  Busy busy = busy_answer(record, BusyReason::done, now, expiry, foreign);
  if (waiting == Waiting::unordered) return busy;
  const Place place = open_queue(record, request.claim.owner, now);
  busy.wake = leave_queue(record, request.claim.owner, place, now);
  return busy;
}

Busy refuse(Record& record, const Acquire& request, ServerTime now, Expiry expiry, Waiting waiting,
            const std::optional<FreeForOthers>& free, const Slot* claimed,
            const ForeignKey* foreign) {
  const BusyReason reason = claimed != nullptr
                                ? BusyReason::held
                                : reason_for(record, now, expiry, free.has_value(), foreign);
  Busy busy;
  if (claimed != nullptr)
    describe(busy, *claimed, now, claimed->expires);
  else
    busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = group_was_granted(record, request.identity.group, now);
  if (waiting == Waiting::in_order) wait_in_order(record, request, now, free, claimed, busy);
  switch (request.if_busy) {
    case IfBusy::wait:
    case IfBusy::probe:
      return busy;
    case IfBusy::skip:
      if (busy.group_granted) return busy;  // L5: it waits instead
      count_skip(record, request.identity.job, "skipped_held", now);
      break;
    case IfBusy::fail:
      if (busy.group_granted) return busy;
      count(record, request.identity.job, "runs_busy");
      break;
    case IfBusy::timed_out:
      count(record, request.identity.job, "wait_timeouts");
      count(record, request.identity.job, "runs_busy");
      break;
  }
  remember(record, request.claim, answer_for(reason), now, request.ttl);
  if (busy.group_granted) remember(record, request.claim, Answer::group_granted, now, request.ttl);
  return busy;
}

}  // namespace cronlatch::rules
