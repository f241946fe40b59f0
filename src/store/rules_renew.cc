// SPDX-License-Identifier: Apache-2.0
// Renew: only for the holder, only during its lease (N1, N2, N4). A store that lost the record, or
// went back to an older one, restores it from the holder's request (N3).
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

// Fences rise with each grant: a seat with a smaller fence is older than the caller's grant.
bool is_older(const Seat& seat, Fence fence) { return seat.fence < fence; }

// True when the recorded holder has no live lease: such a lease must not be overwritten.
bool is_unheld(const Seat& seat, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  return seat.state == HoldState::none || seat.state == HoldState::free ||
         seat.state == HoldState::cooling || !alive(seat, now, expiry);
}

// The seats that the caller's lost grant replaces: one that no run holds, preferably a released
// one. All of them, if their number differs. Empty when the grant cannot be restored.
Seats replaceable(Record& record, const Renew& request, ServerTime now, Expiry expiry) {
  Seats seats = seats_of(record);
  if (record.state == HoldState::none) return seats;
  const auto fits = [&](const Seat* seat) {
    return is_older(*seat, request.fence) && is_unheld(*seat, now, expiry);
  };
  if (record.slots != request.slots)
    return std::all_of(seats.begin(), seats.end(), fits) ? seats : Seats{};
  std::erase_if(seats, [&](const Seat* seat) { return !fits(seat); });
  const auto is_closed = [](const Seat* seat) {
    return seat->state == HoldState::none || seat->state == HoldState::free;
  };
  const auto at = std::find_if(seats.begin(), seats.end(), is_closed);
  if (seats.empty()) return {};
  return {at != seats.end() ? *at : seats.front()};
}

// A replaced open grant is closed in its job's counters, unless they already count it closed (C1).
void close_replaced(Record& record, const Seats& replaced, ServerTime now) {
  for (const Seat* seat : replaced) {
    if (seat->state == HoldState::held || seat->state == HoldState::revoked)
      remember(record, seat->claim, Answer::closed, now, seat->ttl);
    const std::string& job = seat->identity.job;
    if (seat->state == HoldState::held &&
        open_grants(record, job) > held_by_others(record, job, replaced))
      count(record, job, "stolen");
  }
}

Reply restore(Record& record, const Seats& replaced, const Renew& request, ServerTime now,
              Expiry expiry, ForeignKey* foreign) {
  if (answered(record, request.claim, Answer::released, now) ||
      answered(record, request.claim, Answer::closed, now))
    return NotHolder{LostReason::taken};
  if (request.fence == 0) return NotHolder{LostReason::gone};
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  close_replaced(record, replaced, now);
  const std::string& job = request.identity.job;
  const std::int64_t others = held_by_others(record, job, replaced);
  if (record.slots != request.slots) set_slots(record, request.slots);
  // A fence is the time of its grant, except after a backward step of the clock.
  const ServerTime acquired{std::min(static_cast<std::int64_t>(request.fence), now.us)};
  set_holder(record, *replaced.front(),
             {request.claim, request.identity, request.fence, acquired, request.ttl, Micros{0}},
             now, expiry);
  claim_key(record, foreign, now);
  // Counters that were kept already count this grant: it must not be counted twice (C1).
  if (open_grants(record, job) <= others) count(record, job, "acquired");
  count(record, job, "restored");
  return Renewed{{}, true};
}

}  // namespace

LostReason loss_reason(const Record& record, Fence fence) {
  if (record.state == HoldState::none) return LostReason::gone;
  // The record is younger than the caller's grant: the record of that grant was lost.
  const bool reborn = fence != 0 && static_cast<Fence>(record.born.us) > fence;
  return reborn || is_older(newest(record), fence) ? LostReason::gone : LostReason::taken;
}

Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Expiry expiry, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  Seat* const seat = seat_of(record, request.claim);
  if (seat == nullptr) {
    const Seats replaced = replaceable(record, request, now, expiry);
    if (!replaced.empty()) return restore(record, replaced, request, now, expiry, foreign);
    return NotHolder{loss_reason(record, request.fence)};
  }
  if (seat->state == HoldState::revoked) return NotHolder{LostReason::revoked};
  if (seat->state != HoldState::held) return NotHolder{LostReason::taken};
  if (expiry != Expiry::lease) return Renewed{};
  if (!alive(*seat, now, expiry)) return NotHolder{LostReason::expired};
  // Never overwritten: the other program's run has begun.
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  clamp(*seat, now, expiry);
  if (const ServerTime until = now + request.ttl; until >= seat->expires) {
    seat->expires = until;
    seat->ttl = request.ttl;
  }
  // N4: a renewal does not change the fence, unless a quorum granted the lock with a higher one.
  seat->fence = std::max(seat->fence, request.fence);
  claim_key(record, foreign, now);
  date_record(record, now);
  return Renewed{};
}

}  // namespace cronlatch::rules
