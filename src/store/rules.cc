// SPDX-License-Identifier: Apache-2.0
// The clock's share of the rules, revocation, and the reading of a record.
#include "store/rules.h"

#include <algorithm>
#include <utility>

#include "store/rules_parts.h"

namespace cronlatch::rules {

bool alive(const Record& record, ServerTime now, Tenure tenure) {
  switch (tenure) {
    case Tenure::lease:
      return now < record.expires;
    case Tenure::vacant:
      return false;
    case Tenure::occupied:
      return true;
  }
  return false;
}

ServerTime clamped_expiry(const Record& record, ServerTime now, Tenure tenure) {
  const bool granted = record.seat == Seat::held || record.seat == Seat::revoked;
  const bool timed = record.seat == Seat::cooling || (granted && tenure == Tenure::lease);
  return timed ? std::min(record.expires, now + record.ttl) : record.expires;
}

void clamp(Record& record, ServerTime now, Tenure tenure) {
  record.expires = clamped_expiry(record, now, tenure);
  if (record.seat == Seat::held) record.acquired = std::min(record.acquired, now);
}

bool crashed_in_min_hold(const Record& record, ServerTime now, Tenure tenure) {
  return record.seat == Seat::held && !alive(record, now, tenure) &&
         now < record.acquired + record.min_hold;
}

namespace {

Revoked end_min_hold(Record& record, Revoked told, ServerTime ends, ServerTime now) {
  told.was_cooling = now < ends;
  told.remaining = std::max(ends - now, Micros{0});
  if (!told.was_cooling) return told;
  if (record.seat == Seat::held) {
    // Closed in the ledger, and its lease is over.
    record.seat = Seat::revoked;
    count(record, record.identity.job, "revoked");
  } else {
    record.seat = Seat::free;
    record.expires = {};
  }
  return told;
}

}  // namespace

Revoked revoke(Record& record, ServerTime now, Tenure tenure) {
  Revoked told{false, record.identity.holder, record.fence, Micros{0}};
  if (record.seat == Seat::none || record.seat == Seat::free) return told;
  clamp(record, now, tenure);
  if (record.seat == Seat::cooling) return end_min_hold(record, told, record.expires, now);
  if (!alive(record, now, tenure))
    return record.seat == Seat::held
               ? end_min_hold(record, told, record.acquired + record.min_hold, now)
               : told;
  told.was_held = true;
  told.remaining = std::max(record.expires - now, Micros{0});
  if (record.seat == Seat::held) {
    record.seat = Seat::revoked;
    count(record, record.identity.job, "revoked");
  }
  return told;
}

namespace {

LockState state_of(const Record& record, ServerTime now, Tenure tenure) {
  switch (record.seat) {
    case Seat::none:
    case Seat::free:
      return LockState::free;
    case Seat::held:
      return alive(record, now, tenure) ? LockState::held : LockState::expired;
    case Seat::revoked:
      return alive(record, now, tenure) ? LockState::revoked : LockState::free;
    case Seat::cooling:
      return now < record.expires ? LockState::cooling : LockState::free;
  }
  return LockState::free;
}

// As a request would find it: the clamp changes nothing here.
ServerTime min_hold_end(const Record& record, const LockView& shown, ServerTime now) {
  if (shown.state == LockState::cooling) return shown.expires;
  if (shown.state != LockState::expired) return {};
  const ServerTime end = std::min(record.acquired, now) + record.min_hold;
  return now < end ? end : ServerTime{};
}

}  // namespace

LockView view(std::string lock, const Record& record, ServerTime now, Tenure tenure) {
  LockView shown;
  shown.lock = std::move(lock);
  shown.state = state_of(record, now, tenure);
  shown.identity = record.identity;
  shown.fence = record.fence;
  shown.attempt = record.seat == Seat::none ? 0 : record.claim.attempt;
  shown.now = now;
  shown.acquired = record.acquired;
  shown.expires = clamped_expiry(record, now, tenure);
  shown.closed_until = min_hold_end(record, shown, now);
  shown.ttl = std::chrono::duration_cast<Millis>(record.ttl);
  shown.jobs = record.jobs;
  return shown;
}

std::optional<Unavailable> refuse_slots(const Request& request) {
  const auto* acquire = std::get_if<Acquire>(&request);
  if (acquire == nullptr || acquire->slots == 1) return std::nullopt;
  return Unavailable{{Code::config,
                      "slots is " + std::to_string(acquire->slots) +
                          ", but this version knows locks with one holder only",
                      "leave slots at 1"},
                     false,
                     true};
}

}  // namespace cronlatch::rules
