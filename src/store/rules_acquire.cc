// SPDX-License-Identifier: Apache-2.0
// Acquire: which request is granted the lock, which is answered busy, and what each counts (AQ1 to
// AQ6, AQ8, K1 to K6, L0, C2).
#include <algorithm>
#include <utility>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

// The open grant of the claim; null without one.
Seat* held_by(Record& record, const Claim& claim) {
  Seat* const seat = seat_of(record, claim);
  return seat != nullptr && seat->state == HoldState::held ? seat : nullptr;
}

// Without a lease the recorded grant of the caller cannot have expired.
bool is_live(const Seat& seat, ServerTime now, Expiry expiry) {
  return seat.state == HoldState::held && (expiry != Expiry::lease || alive(seat, now, expiry));
}

// AQ4: this attempt has a final answer: it was released, lost, or followed by a later attempt.
bool is_closed(const Record& record, const Claim& claim, ServerTime now, Expiry expiry) {
  if (answered(record, claim, Answer::released, now) ||
      answered(record, claim, Answer::closed, now))
    return true;
  const ConstSeats seats = seats_of(record);
  return std::any_of(seats.begin(), seats.end(), [&](const Seat* seat) {
    if (seat->state == HoldState::none || seat->claim.owner != claim.owner) return false;
    if (claim.attempt < seat->claim.attempt) return true;
    return claim.attempt == seat->claim.attempt && !is_live(*seat, now, expiry);
  });
}

std::optional<BusyReason> counted_busy(const Record& record, const Claim& claim, ServerTime now) {
  if (answered(record, claim, Answer::busy_held, now)) return BusyReason::held;
  if (answered(record, claim, Answer::busy_cooling, now)) return BusyReason::cooling;
  if (answered(record, claim, Answer::busy_done, now)) return BusyReason::done;
  if (answered(record, claim, Answer::busy_queued, now)) return BusyReason::queued;
  return std::nullopt;
}

// Another program has the key, and no lease of the lock itself is in effect.
bool is_blocked(const Record& record, const KeyState& key, ServerTime now, Expiry expiry) {
  const bool granted = record.state == HoldState::held || record.state == HoldState::revoked;
  return key.is_in_effect() && !(granted && alive(record, now, expiry));
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
  const Seat& seat = next_to_end(record, now, expiry);
  if (reason == BusyReason::done || seat.state == HoldState::none || seat.state == HoldState::free)
    return busy;
  busy.holder = seat.identity.holder;
  busy.job = seat.identity.job;
  busy.fence = seat.fence;
  busy.held_for = std::max(now - seat.acquired, Micros{0});
  // Without a lease only a min-hold has an end time.
  const ServerTime ends = reason == BusyReason::cooling ? end_of(seat, now, expiry) : seat.expires;
  busy.remaining = std::max(ends - now, Micros{0});
  return busy;
}

void count_skip(Record& record, const std::string& job, std::string_view reason, ServerTime now) {
  count(record, job, reason);
  count(record, job, "runs_skipped");
  stamp(record, job, "last_skip", now);
}

// K3: a finished identity blocks every request, whatever its if_busy is.
Busy refuse_done(Record& record, const Acquire& request, ServerTime now, Expiry expiry,
                 Waiting waiting, ForeignKey* foreign) {
  Seat* const own = held_by(record, request.claim);
  if (own != nullptr) {
    // Another run marked the identity after the grant, and the caller never received the answer of
    // the grant: the grant is released.
    count(record, own->identity.job, "released");
    own->state = HoldState::free;
    own->expires = {};
    release_key(record, foreign, now, Micros{0});
  }
  count_skip(record, request.identity.job, "skipped_done", now);
  remember(record, request.claim, Answer::busy_done, now, request.ttl);
  Busy busy = busy_answer(record, BusyReason::done, now, expiry, foreign);
  if (waiting == Waiting::unordered) return busy;
  const Place place = open_queue(record, request.claim.owner, now);
  busy.wake = leave_queue(record, request.claim.owner, place, now);
  if (own == nullptr) return busy;
  busy.wake = hand_over(record, *own, now);
  reset_if_idle(record);
  return busy;
}

// L0: the min-hold of an attempt group does not exclude that group.
bool is_own_group(const Seat& seat, const Acquire& request) {
  return !request.identity.group.empty() && request.identity.group == seat.identity.group;
}

bool grantable(const Seat& seat, const Acquire& request, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  const bool own_group = is_own_group(seat, request);
  switch (seat.state) {
    case HoldState::none:
    case HoldState::free:
      return true;
    case HoldState::held:
      return !alive(seat, now, expiry) && (own_group || !crashed_in_min_hold(seat, now, expiry));
    case HoldState::revoked:
      return !alive(seat, now, expiry);
    case HoldState::cooling:
      return now >= seat.expires || own_group;
  }
  return false;
}

// The seats that could be granted, those without an expired grant first.
Seats grantable_seats(Record& record, const Acquire& request, ServerTime now, Expiry expiry) {
  Seats seats = seats_of(record);
  std::erase_if(seats, [&](const Seat* seat) { return !grantable(*seat, request, now, expiry); });
  std::stable_partition(seats.begin(), seats.end(),
                        [](const Seat* seat) { return seat->state != HoldState::held; });
  return seats;
}

void close_unreleased(Record& record, const Seat& seat, ServerTime now) {
  if (seat.state == HoldState::held)
    count(record, seat.identity.job, "stolen");  // AQ3: for the job that lost the lease
  if (seat.state == HoldState::held || seat.state == HoldState::revoked)
    remember(record, seat.claim, Answer::closed, now, seat.ttl);
}

Granted grant(Record& record, Seat& chosen, const Acquire& request, ServerTime now, Expiry expiry,
              ForeignKey* foreign) {
  const bool resized = record.slots != request.slots;
  Seat& seat = resized ? record : chosen;
  const bool stole = seat.state == HoldState::held;
  for (const Seat* replaced : resized ? seats_of(record) : Seats{&seat})
    close_unreleased(record, *replaced, now);
  const Fence predecessor = seat.fence;
  const Fence fence = std::max(newest(record).fence + 1, static_cast<Fence>(now.us));  // AQ2
  if (resized) set_slots(record, request.slots);
  set_holder(record, seat,
             {request.claim, request.identity, fence, now, request.ttl, request.min_hold}, now,
             expiry);
  seat.stole = stole ? predecessor : 0;
  claim_key(record, foreign, now);
  count(record, request.identity.job, "acquired");
  if (request.waited > Millis{0}) count_wait(record, request.identity.job, request.waited);
  return Granted{fence, {}, expiry == Expiry::lease, stole};
}

// Whether a min-hold keeps the seat closed for all others.
bool is_cooling(const Seat& seat, ServerTime now, Expiry expiry) {
  if (seat.state == HoldState::cooling) return now < seat.expires;
  return crashed_in_min_hold(seat, now, expiry);
}

BusyReason reason_for(const Record& record, ServerTime now, Expiry expiry, bool is_free,
                      const ForeignKey* foreign) {
  if (is_free) return BusyReason::queued;
  if (is_blocked(record, key_state(record.shared, foreign, now), now, expiry))
    return BusyReason::held;
  const Seat& seat = next_to_end(record, now, expiry);
  const bool cooling = (seat.state == HoldState::cooling && expiry != Expiry::holder_present) ||
                       crashed_in_min_hold(seat, now, expiry);
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

// The seats that are free, and the caller's place: only the order of the runs that wait excludes
// it.
struct FreeForOthers {
  Seats seats;
  Place place;
};

// A run that waits keeps its place or gets one.
void wait_in_order(Record& record, const Acquire& request, ServerTime now,
                   const std::optional<FreeForOthers>& free, Busy& busy) {
  const std::string& owner = request.claim.owner;
  const bool ends = request.if_busy == IfBusy::timed_out;
  const bool probes = request.if_busy == IfBusy::probe;
  const bool waits = request.if_busy == IfBusy::wait || (!ends && !probes && busy.group_granted);
  if (!waits && !ends && !free) return;
  const Place place = free ? free->place : open_queue(record, owner, now);
  if (ends) busy.wake = leave_queue(record, owner, place, now);
  if (free) {
    if (std::string reserved = reserve(record, free->seats, now); !reserved.empty())
      busy.wake = std::move(reserved);
    busy.remaining = until_turn(record, now);
  }
  if (waits) busy.ahead = keep_place(record, owner, place, now);
}

Busy refuse(Record& record, const Acquire& request, ServerTime now, Expiry expiry, Waiting waiting,
            const std::optional<FreeForOthers>& free, const ForeignKey* foreign) {
  const BusyReason reason = reason_for(record, now, expiry, free.has_value(), foreign);
  Busy busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = group_was_granted(record, request.identity.group, now);
  if (waiting == Waiting::in_order) wait_in_order(record, request, now, free, busy);
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

// AQ6: a free seat is granted to the first run that waits. If it is this one, its place is removed.
// A lost record has no reservations. Null: the caller is not the first.
Seat* enter(Record& record, const Acquire& request, const FreeForOthers& free, ServerTime now,
            Expiry expiry) {
  const std::string& owner = request.claim.owner;
  const auto before_all = std::find_if(free.seats.begin(), free.seats.end(), [&](const Seat* seat) {
    return record.state == HoldState::none ||
           (is_own_group(*seat, request) && is_cooling(*seat, now, expiry));
  });
  Seat* const seat = before_all != free.seats.end()
                         ? *before_all
                         : next_seat(record, free.seats, request.slots, owner, free.place, now);
  if (seat == nullptr) return nullptr;
  record.queue.erase(owner);
  record.asked.erase(owner);
  return seat;
}

// Another number of slots is refused while a lease or a min-hold excludes this request; nothing
// changes. The seat that is free first; no value: none excludes it.
std::optional<Seat> excludes_other_slots(const Record& record, const Acquire& request,
                                         ServerTime now, Expiry expiry) {
  std::optional<Seat> first;
  if (record.state == HoldState::none || record.slots == request.slots) return first;
  for (const Seat* stored : seats_of(record)) {
    Seat seat = *stored;
    clamp(seat, now, expiry);
    if (!grantable(seat, request, now, expiry) &&
        (!first || end_of(seat, now, expiry) < end_of(*first, now, expiry)))
      first = std::move(seat);
  }
  return first;
}

// C2: a claim that was counted as busy gets the same answer again.
Busy repeated_busy(const Record& record, const Claim& claim, BusyReason reason, ServerTime now,
                   Expiry expiry, const ForeignKey* foreign) {
  Busy busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = answered(record, claim, Answer::group_granted, now);
  return busy;
}

}  // namespace

void set_holder(Record& record, Seat& seat, const Grant& grant, ServerTime now, Expiry expiry) {
  if (record.state == HoldState::none) record.born = now;
  seat.state = HoldState::held;
  seat.turn.reset();
  seat.claim = grant.claim;
  seat.identity = grant.identity;
  seat.fence = grant.fence;
  seat.stole = 0;
  seat.acquired = grant.acquired;
  seat.ttl = expiry == Expiry::lease ? grant.ttl : Micros{0};
  seat.min_hold = std::max(grant.min_hold, Micros{0});
  seat.expires = expiry == Expiry::lease ? now + grant.ttl : ServerTime{};
  date_record(record, now);
  remember_group(record, grant.identity.group, GroupState::open, now);
}

Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Expiry expiry, Waiting waiting, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  const KeyState key = key_state(record.shared, foreign, now);
  if (key.hold == KeyHold::unreadable) return unreadable_key();
  const auto reason = counted_busy(record, request.claim, now);
  if (!reason && is_closed(record, request.claim, now, expiry)) return TooLate{true};
  Seat* const own = held_by(record, request.claim);
  // Another program took the key from this grant, whose answer the caller never received.
  if (!reason && own != nullptr && key.is_foreign() &&
      !is_done(record, request.identity, request.once_ttl, now))
    return TooLate{true};
  if (!reason && own == nullptr && !is_done(record, request.identity, request.once_ttl, now))
    if (const auto holder = excludes_other_slots(record, request, now, expiry))
      return other_slots(request, record.slots, holder->identity.holder);
  for (Seat* seat : seats_of(record)) clamp(*seat, now, expiry);
  if (reason) return repeated_busy(record, request.claim, *reason, now, expiry, foreign);
  if (is_done(record, request.identity, request.once_ttl, now))
    return refuse_done(record, request, now, expiry, waiting, foreign);
  if (own != nullptr) {
    // A repeated request after an unknown result: the same fence, nothing is counted (AQ4).
    if (expiry == Expiry::lease) {
      own->expires = now + request.ttl;
      own->ttl = request.ttl;
    }
    claim_key(record, foreign, now);
    return Granted{own->fence, {}, expiry == Expiry::lease, own->stole != 0};
  }
  FreeForOthers free{grantable_seats(record, request, now, expiry), {}};
  if (is_blocked(record, key, now, expiry) || free.seats.empty())
    return refuse(record, request, now, expiry, waiting, std::nullopt, foreign);
  if (waiting == Waiting::unordered)
    return grant(record, *free.seats.front(), request, now, expiry, foreign);
  free.place = open_queue(record, request.claim.owner, now);
  Seat* const seat = enter(record, request, free, now, expiry);
  if (seat == nullptr) return refuse(record, request, now, expiry, waiting, free, foreign);
  return grant(record, *seat, request, now, expiry, foreign);
}

}  // namespace cronlatch::rules
