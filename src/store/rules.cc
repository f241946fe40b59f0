// SPDX-License-Identifier: Apache-2.0
// Expiry, revocation, and the view of a record.
#include "store/rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/rules_internal.h"

namespace cronlatch::rules {

bool alive(const Seat& seat, ServerTime now, Expiry expiry) {
  switch (expiry) {
    case Expiry::lease:
      return now < seat.expires;
    case Expiry::holder_gone:
      return false;
    case Expiry::holder_present:
      return true;
  }
  return false;
}

ServerTime clamped_expiry(const Seat& seat, ServerTime now, Expiry expiry) {
  const bool granted = seat.state == HoldState::held || seat.state == HoldState::revoked;
  const bool timed = seat.state == HoldState::cooling || (granted && expiry == Expiry::lease);
  return timed ? std::min(seat.expires, now + seat.ttl) : seat.expires;
}

void clamp(Seat& seat, ServerTime now, Expiry expiry) {
  seat.expires = clamped_expiry(seat, now, expiry);
  if (seat.state == HoldState::held) seat.acquired = std::min(seat.acquired, now);
}

bool crashed_in_min_hold(const Seat& seat, ServerTime now, Expiry expiry) {
  return seat.state == HoldState::held && !alive(seat, now, expiry) &&
         now < seat.acquired + seat.min_hold;
}

ServerTime end_of(const Seat& seat, ServerTime now, Expiry expiry) {
  return crashed_in_min_hold(seat, now, expiry) ? seat.acquired + seat.min_hold : seat.expires;
}

namespace {

Revoked end_min_hold(Record& record, Seat& seat, Revoked revoked, ServerTime ends, ServerTime now) {
  revoked.was_cooling = now < ends;
  revoked.remaining = std::max(ends - now, Micros{0});
  if (!revoked.was_cooling) return revoked;
  if (seat.state == HoldState::held) {
    // The lease has ended, so the seat is free at once.
    seat.state = HoldState::revoked;
    count(record, seat.identity.job, "revoked");
  } else {
    seat.state = HoldState::free;
    seat.expires = {};
  }
  return revoked;
}

Revoked revoke_seat(Record& record, Seat& seat, ServerTime now, Expiry expiry) {
  Revoked revoked{false, seat.identity.holder, seat.fence, Micros{0}};
  if (seat.state == HoldState::none || seat.state == HoldState::free) return revoked;
  clamp(seat, now, expiry);
  if (seat.state == HoldState::cooling)
    return end_min_hold(record, seat, revoked, seat.expires, now);
  if (!alive(seat, now, expiry))
    return seat.state == HoldState::held
               ? end_min_hold(record, seat, revoked, seat.acquired + seat.min_hold, now)
               : revoked;
  revoked.was_held = true;
  revoked.remaining = std::max(seat.expires - now, Micros{0});
  if (seat.state == HoldState::held) {
    seat.state = HoldState::revoked;
    count(record, seat.identity.job, "revoked");
  }
  return revoked;
}

// A lease before a min-hold before none.
int rank_of(const Revoked& revoked) { return revoked.was_held ? 2 : revoked.was_cooling ? 1 : 0; }

Revoked revoke_seats(Record& record, ServerTime now, Expiry expiry) {
  std::optional<Revoked> all;
  for (Seat* seat : seats_of(record)) {
    const Revoked one = revoke_seat(record, *seat, now, expiry);
    if (!all || rank_of(one) > rank_of(*all)) {
      all = one;
    } else if (rank_of(one) == rank_of(*all)) {
      const Micros longest = std::max(one.remaining, all->remaining);
      if (one.fence > all->fence) all = one;
      all->remaining = longest;
    }
  }
  return *all;
}

}  // namespace

Revoked revoke(Record& record, ServerTime now, Expiry expiry, ForeignKey* foreign) {
  const KeyState key = key_state(record.shared, foreign, now);
  Revoked revoked = revoke_seats(record, now, expiry);
  if (key.hold == KeyHold::none || revoked.was_held) return revoked;
  if (key.is_in_effect())
    revoked = {
        .holder = foreign_holder(foreign->format), .remaining = key.remaining, .was_cooling = true};
  foreign->value.reset();
  record.shared.clear();
  return revoked;
}

namespace {

LockState state_of(const Seat& seat, ServerTime now, Expiry expiry) {
  switch (seat.state) {
    case HoldState::none:
    case HoldState::free:
      return LockState::free;
    case HoldState::held:
      return alive(seat, now, expiry) ? LockState::held : LockState::expired;
    case HoldState::revoked:
      return alive(seat, now, expiry) ? LockState::revoked : LockState::free;
    case HoldState::cooling:
      return now < seat.expires ? LockState::cooling : LockState::free;
  }
  return LockState::free;
}

// As a request finds it after the clamp; the record does not change.
ServerTime min_hold_end(const Seat& seat, ServerTime now, Expiry expiry) {
  const LockState state = state_of(seat, now, expiry);
  if (state == LockState::cooling) return clamped_expiry(seat, now, expiry);
  if (state != LockState::expired) return {};
  const ServerTime end = std::min(seat.acquired, now) + seat.min_hold;
  return now < end ? end : ServerTime{};
}

// The state of several seats is the first of these that one of them has; of the others, free.
constexpr LockState kPrecedence[] = {LockState::held, LockState::revoked, LockState::expired};

// The last grant of those that have the state of the lock.
const Seat& shown_seat(const Record& record, ServerTime now, Expiry expiry) {
  const auto rank = [&](const Seat& seat) {
    return std::find(std::begin(kPrecedence), std::end(kPrecedence), state_of(seat, now, expiry));
  };
  const Seat* shown = &record;
  for (const Seat& seat : record.more)
    if (rank(seat) < rank(*shown) || (rank(seat) == rank(*shown) && seat.fence > shown->fence))
      shown = &seat;
  return *shown;
}

std::vector<ClosedSlot> closed_slots_of(const Record& record, ServerTime now, Expiry expiry) {
  std::vector<ClosedSlot> closed;
  for (const Seat* seat : seats_of(record))
    if (const ServerTime end = min_hold_end(*seat, now, expiry); end != ServerTime{})
      closed.push_back({end, seat->identity.group});
  std::sort(closed.begin(), closed.end(),
            [](const ClosedSlot& a, const ClosedSlot& b) { return a.until < b.until; });
  return closed;
}

std::vector<GrantView> open_grants_of(const Record& record, ServerTime now, Expiry expiry) {
  std::vector<GrantView> grants;
  for (const Seat* seat : seats_of(record)) {
    const LockState state = state_of(*seat, now, expiry);
    if (state != LockState::free && state != LockState::cooling)
      grants.push_back({state, seat->identity, seat->fence, seat->claim.attempt, seat->acquired,
                        clamped_expiry(*seat, now, expiry)});
  }
  std::sort(grants.begin(), grants.end(),
            [](const GrantView& a, const GrantView& b) { return a.fence < b.fence; });
  return grants;
}

}  // namespace

LockView view(std::string lock, const Record& record, ServerTime now, Expiry expiry) {
  const Seat& shown = shown_seat(record, now, expiry);
  LockView lock_view;
  lock_view.lock = std::move(lock);
  lock_view.state = state_of(shown, now, expiry);
  lock_view.identity = shown.identity;
  lock_view.fence = newest(record).fence;
  lock_view.attempt = shown.state == HoldState::none ? 0 : shown.claim.attempt;
  lock_view.now = now;
  lock_view.acquired = shown.acquired;
  lock_view.expires = clamped_expiry(shown, now, expiry);
  lock_view.ttl = std::chrono::duration_cast<Millis>(shown.ttl);
  lock_view.slots = record.slots;
  lock_view.closed_slots = closed_slots_of(record, now, expiry);
  // A run is granted any other seat.
  if (lock_view.state == LockState::cooling && lock_view.closed_until() == ServerTime{})
    lock_view.state = LockState::free;
  if (record.slots > 1) lock_view.grants = open_grants_of(record, now, expiry);
  if (expiry == Expiry::lease) lock_view.waiters = count_waiters(record, now);
  lock_view.jobs = record.jobs;
  return lock_view;
}

}  // namespace cronlatch::rules
