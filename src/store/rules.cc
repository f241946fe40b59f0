// SPDX-License-Identifier: Apache-2.0
// Expiry, revocation, and the view of a record.
#include "store/rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/rules_internal.h"

namespace cronlatch::rules {

bool alive(const Slot& slot, ServerTime now, Expiry expiry) {
  switch (expiry) {
    case Expiry::lease:
      return now < slot.expires;
    case Expiry::holder_gone:
      return false;
    case Expiry::holder_present:
      return true;
  }
  return false;
}

ServerTime clamped_expiry(const Slot& slot, ServerTime now, Expiry expiry) {
  const bool granted = slot.state == HoldState::held || slot.state == HoldState::revoked;
  const bool timed = slot.state == HoldState::cooling || (granted && expiry == Expiry::lease);
  return timed ? std::min(slot.expires, now + slot.ttl) : slot.expires;
}

void clamp(Slot& slot, ServerTime now, Expiry expiry) {
  slot.expires = clamped_expiry(slot, now, expiry);
  if (slot.state == HoldState::held) slot.acquired = std::min(slot.acquired, now);
}

bool crashed_in_min_hold(const Slot& slot, ServerTime now, Expiry expiry) {
  return slot.state == HoldState::held && !alive(slot, now, expiry) &&
         now < slot.acquired + slot.min_hold;
}

ServerTime end_of(const Slot& slot, ServerTime now, Expiry expiry) {
  return crashed_in_min_hold(slot, now, expiry) ? slot.acquired + slot.min_hold : slot.expires;
}

namespace {

Revoked end_min_hold(Record& record, Slot& slot, Revoked revoked, ServerTime ends, ServerTime now) {
  revoked.was_cooling = now < ends;
  revoked.remaining = std::max(ends - now, Micros{0});
  if (!revoked.was_cooling) return revoked;
  if (slot.state == HoldState::held) {
    // The lease has ended, so the slot is free at once.
    slot.state = HoldState::revoked;
    count(record, slot.identity.job, "revoked");
  } else {
    slot.state = HoldState::free;
    slot.expires = {};
  }
  return revoked;
}

Revoked revoke_slot(Record& record, Slot& slot, ServerTime now, Expiry expiry) {
  Revoked revoked{false, slot.identity.holder, slot.fence, Micros{0}};
  if (slot.state == HoldState::none || slot.state == HoldState::free) return revoked;
  clamp(slot, now, expiry);
  if (slot.state == HoldState::cooling)
    return end_min_hold(record, slot, revoked, slot.expires, now);
  if (!alive(slot, now, expiry))
    return slot.state == HoldState::held
               ? end_min_hold(record, slot, revoked, slot.acquired + slot.min_hold, now)
               : revoked;
  revoked.was_held = true;
  revoked.remaining = std::max(slot.expires - now, Micros{0});
  if (slot.state == HoldState::held) {
    slot.state = HoldState::revoked;
    count(record, slot.identity.job, "revoked");
  }
  return revoked;
}

// A lease before a min-hold before none.
int rank_of(const Revoked& revoked) { return revoked.was_held ? 2 : revoked.was_cooling ? 1 : 0; }

Revoked revoke_slots(Record& record, ServerTime now, Expiry expiry) {
  std::optional<Revoked> all;
  for (Slot* slot : slot_list_of(record)) {
    const Revoked one = revoke_slot(record, *slot, now, expiry);
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
  Revoked revoked = revoke_slots(record, now, expiry);
  if (key.hold == KeyHold::none || revoked.was_held) return revoked;
  if (key.is_in_effect())
    revoked = {
        .holder = foreign_holder(foreign->format), .remaining = key.remaining, .was_cooling = true};
  foreign->value.reset();
  record.shared.clear();
  return revoked;
}

namespace {

LockState state_of(const Slot& slot, ServerTime now, Expiry expiry) {
  switch (slot.state) {
    case HoldState::none:
    case HoldState::free:
      return LockState::free;
    case HoldState::held:
      return alive(slot, now, expiry) ? LockState::held : LockState::expired;
    case HoldState::revoked:
      return alive(slot, now, expiry) ? LockState::revoked : LockState::free;
    case HoldState::cooling:
      return now < slot.expires ? LockState::cooling : LockState::free;
  }
  return LockState::free;
}

// As a request finds it after the clamp; the record does not change.
ServerTime min_hold_end(const Slot& slot, ServerTime now, Expiry expiry) {
  const LockState state = state_of(slot, now, expiry);
  if (state == LockState::cooling) return clamped_expiry(slot, now, expiry);
  if (state != LockState::expired) return {};
  const ServerTime end = std::min(slot.acquired, now) + slot.min_hold;
  return now < end ? end : ServerTime{};
}

// The state of several slots is the first of these that one of them has; of the others, free.
constexpr LockState kPrecedence[] = {LockState::held, LockState::revoked, LockState::expired};

// The last grant of those that have the state of the lock.
const Slot& shown_slot(const Record& record, ServerTime now, Expiry expiry) {
  const auto rank = [&](const Slot& slot) {
    return std::find(std::begin(kPrecedence), std::end(kPrecedence), state_of(slot, now, expiry));
  };
  const Slot* shown = &record;
  for (const Slot& slot : record.more)
    if (rank(slot) < rank(*shown) || (rank(slot) == rank(*shown) && slot.fence > shown->fence))
      shown = &slot;
  return *shown;
}

std::vector<ClosedSlot> closed_slots_of(const Record& record, ServerTime now, Expiry expiry) {
  std::vector<ClosedSlot> closed;
  for (const Slot* slot : slot_list_of(record))
    if (const ServerTime end = min_hold_end(*slot, now, expiry); end != ServerTime{})
      closed.push_back({end, slot->identity.group});
  return closed;
}

std::vector<GrantView> open_grants_of(const Record& record, ServerTime now, Expiry expiry) {
  std::vector<GrantView> grants;
  for (const Slot* slot : slot_list_of(record)) {
    const LockState state = state_of(*slot, now, expiry);
    if (state != LockState::free && state != LockState::cooling)
      grants.push_back({state, slot->identity, slot->fence, slot->claim.attempt, slot->acquired,
                        clamped_expiry(*slot, now, expiry)});
  }
  return grants;
}

}  // namespace

void sort_slots(LockView& view) {
  std::sort(view.closed_slots.begin(), view.closed_slots.end(),
            [](const ClosedSlot& a, const ClosedSlot& b) { return a.until < b.until; });
  std::sort(view.grants.begin(), view.grants.end(),
            [](const GrantView& a, const GrantView& b) { return a.fence < b.fence; });
}

LockView view(std::string lock, const Record& record, ServerTime now, Expiry expiry) {
  const Slot& shown = shown_slot(record, now, expiry);
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
  if (record.slots > 1) lock_view.grants = open_grants_of(record, now, expiry);
  sort_slots(lock_view);
  // A run is granted any other slot.
  if (lock_view.state == LockState::cooling && lock_view.closed_until() == ServerTime{})
    lock_view.state = LockState::free;
  if (expiry == Expiry::lease) lock_view.waiters = count_waiters(record, now);
  lock_view.jobs = record.jobs;
  return lock_view;
}

}  // namespace cronlatch::rules
