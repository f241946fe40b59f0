// SPDX-License-Identifier: Apache-2.0
// Expiry, revocation, and the view of a record.
#include "store/rules.h"

#include <algorithm>
#include <utility>

#include "store/rules_internal.h"

namespace cronlatch::rules {

bool alive(const Record& record, ServerTime now, Expiry expiry) {
  switch (expiry) {
    case Expiry::lease:
      return now < record.expires;
    case Expiry::holder_gone:
      return false;
    case Expiry::holder_present:
      return true;
  }
  return false;
}

ServerTime clamped_expiry(const Record& record, ServerTime now, Expiry expiry) {
  const bool granted = record.state == HoldState::held || record.state == HoldState::revoked;
  const bool timed = record.state == HoldState::cooling || (granted && expiry == Expiry::lease);
  return timed ? std::min(record.expires, now + record.ttl) : record.expires;
}

void clamp(Record& record, ServerTime now, Expiry expiry) {
  record.expires = clamped_expiry(record, now, expiry);
  if (record.state == HoldState::held) record.acquired = std::min(record.acquired, now);
}

bool crashed_in_min_hold(const Record& record, ServerTime now, Expiry expiry) {
  return record.state == HoldState::held && !alive(record, now, expiry) &&
         now < record.acquired + record.min_hold;
}

namespace {

Revoked end_min_hold(Record& record, Revoked revoked, ServerTime ends, ServerTime now) {
  revoked.was_cooling = now < ends;
  revoked.remaining = std::max(ends - now, Micros{0});
  if (!revoked.was_cooling) return revoked;
  if (record.state == HoldState::held) {
    // The lease has ended, so the lock is free at once.
    record.state = HoldState::revoked;
    count(record, record.identity.job, "revoked");
  } else {
    record.state = HoldState::free;
    record.expires = {};
  }
  return revoked;
}

}  // namespace

namespace {

Revoked revoke_record(Record& record, ServerTime now, Expiry expiry) {
  Revoked revoked{false, record.identity.holder, record.fence, Micros{0}};
  if (record.state == HoldState::none || record.state == HoldState::free) return revoked;
  clamp(record, now, expiry);
  if (record.state == HoldState::cooling) return end_min_hold(record, revoked, record.expires, now);
  if (!alive(record, now, expiry))
    return record.state == HoldState::held
               ? end_min_hold(record, revoked, record.acquired + record.min_hold, now)
               : revoked;
  revoked.was_held = true;
  revoked.remaining = std::max(record.expires - now, Micros{0});
  if (record.state == HoldState::held) {
    record.state = HoldState::revoked;
    count(record, record.identity.job, "revoked");
  }
  return revoked;
}

}  // namespace

Revoked revoke(Record& record, ServerTime now, Expiry expiry, ForeignKey* foreign) {
  const KeyState key = key_state(record.shared, foreign, now);
  Revoked revoked = revoke_record(record, now, expiry);
  if (key.hold == KeyHold::none || revoked.was_held) return revoked;
  if (key.is_in_effect())
    revoked = {
        .holder = foreign_holder(foreign->format), .remaining = key.remaining, .was_cooling = true};
  foreign->value.reset();
  record.shared.clear();
  return revoked;
}

namespace {

LockState state_of(const Record& record, ServerTime now, Expiry expiry) {
  switch (record.state) {
    case HoldState::none:
    case HoldState::free:
      return LockState::free;
    case HoldState::held:
      return alive(record, now, expiry) ? LockState::held : LockState::expired;
    case HoldState::revoked:
      return alive(record, now, expiry) ? LockState::revoked : LockState::free;
    case HoldState::cooling:
      return now < record.expires ? LockState::cooling : LockState::free;
  }
  return LockState::free;
}

// As a request finds it after the clamp; the record does not change.
ServerTime min_hold_end(const Record& record, const LockView& lock_view, ServerTime now) {
  if (lock_view.state == LockState::cooling) return lock_view.expires;
  if (lock_view.state != LockState::expired) return {};
  const ServerTime end = std::min(record.acquired, now) + record.min_hold;
  return now < end ? end : ServerTime{};
}

}  // namespace

LockView view(std::string lock, const Record& record, ServerTime now, Expiry expiry) {
  LockView lock_view;
  lock_view.lock = std::move(lock);
  lock_view.state = state_of(record, now, expiry);
  lock_view.identity = record.identity;
  lock_view.fence = record.fence;
  lock_view.attempt = record.state == HoldState::none ? 0 : record.claim.attempt;
  lock_view.now = now;
  lock_view.acquired = record.acquired;
  lock_view.expires = clamped_expiry(record, now, expiry);
  lock_view.closed_until = min_hold_end(record, lock_view, now);
  lock_view.ttl = std::chrono::duration_cast<Millis>(record.ttl);
  if (expiry == Expiry::lease) lock_view.waiters = count_waiters(record, now);
  lock_view.jobs = record.jobs;
  return lock_view;
}

std::optional<Unavailable> refuse_slots(const Request& request) {
  const auto* acquire = std::get_if<Acquire>(&request);
  if (acquire == nullptr || acquire->slots == 1) return std::nullopt;
  return Unavailable{
      {Code::config,
       "slots is " + std::to_string(acquire->slots) + " but this version supports one holder only",
       "set slots to 1"},
      false,
      true};
}

}  // namespace cronlatch::rules
