// SPDX-License-Identifier: Apache-2.0
// Acquire: which request is granted the lock, and which is answered busy (AQ1 to AQ6, AQ8, K1 to
// K6, L0, L5, C2).
#include <algorithm>
#include <utility>

#include "store/rules_acquire.h"

namespace cronlatch::rules {

namespace {

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

// K2: the seat of another run with this identity, whose lease is live; null without one. A lock
// with one slot excludes that run itself.
const Seat* claimed_seat(const Record& record, const Identity& identity, ServerTime now,
                         Expiry expiry) {
  if (record.slots == 1 || identity.once.empty()) return nullptr;
  const ConstSeats seats = seats_of(record);
  const auto at = std::find_if(seats.begin(), seats.end(), [&](const Seat* seat) {
    const bool granted = seat->state == HoldState::held || seat->state == HoldState::revoked;
    return granted && alive(*seat, now, expiry) && seat->identity.job == identity.job &&
           seat->identity.once == identity.once;
  });
  return at == seats.end() ? nullptr : *at;
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

// Whether a min-hold keeps the seat closed for all others.
bool is_cooling(const Seat& seat, ServerTime now, Expiry expiry) {
  if (seat.state == HoldState::cooling) return now < seat.expires;
  return crashed_in_min_hold(seat, now, expiry);
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

}  // namespace

Seat* held_by(Record& record, const Claim& claim) {
  Seat* const seat = seat_of(record, claim);
  return seat != nullptr && seat->state == HoldState::held ? seat : nullptr;
}

bool is_blocked(const Record& record, const KeyState& key, ServerTime now, Expiry expiry) {
  const bool granted = record.state == HoldState::held || record.state == HoldState::revoked;
  return key.is_in_effect() && !(granted && alive(record, now, expiry));
}

Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Expiry expiry, Waiting waiting, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  const KeyState key = key_state(record.shared, foreign, now);
  if (key.hold == KeyHold::unreadable) return unreadable_key();
  const auto reason = counted_busy(record, request.claim, now);
  if (!reason && is_closed(record, request.claim, now, expiry)) return TooLate{true};
  Seat* const own = held_by(record, request.claim);
  const bool done = is_done(record, request.identity, request.once_ttl, now);
  // This attempt has a grant, and another program took its key, or its identity is done since then
  // (K3). The grant stays: its holder may have received it, and this request may be a copy that was
  // delayed on its way. Otherwise the caller tries again with another attempt.
  if (!reason && own != nullptr && (key.is_foreign() || done)) return TooLate{true};
  if (!reason && own == nullptr && !done)
    if (const auto holder = excludes_other_slots(record, request, now, expiry))
      return other_slots(request, record.slots, holder->identity.holder);
  for (Seat* seat : seats_of(record)) clamp(*seat, now, expiry);
  if (reason) return repeated_busy(record, request.claim, *reason, now, expiry, foreign);
  if (done) return refuse_done(record, request, now, expiry, waiting, foreign);
  if (own != nullptr) return grant_again(record, *own, request, now, expiry, foreign);
  FreeForOthers free{grantable_seats(record, request, now, expiry), {}};
  const Seat* const claimed = claimed_seat(record, request.identity, now, expiry);
  if (claimed != nullptr || is_blocked(record, key, now, expiry) || free.seats.empty())
    return refuse(record, request, now, expiry, waiting, std::nullopt, claimed, foreign);
  if (waiting == Waiting::unordered)
    return grant(record, *free.seats.front(), request, now, expiry, foreign);
  free.place = open_queue(record, request.claim.owner, now);
  Seat* const seat = enter(record, request, free, now, expiry);
  if (seat == nullptr) return refuse(record, request, now, expiry, waiting, free, nullptr, foreign);
  return grant(record, *seat, request, now, expiry, foreign);
}

}  // namespace cronlatch::rules
