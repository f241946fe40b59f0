// SPDX-License-Identifier: Apache-2.0
// The clock's share of the rules, revocation, and the reading of a record.
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

Revoked end_min_hold(Record& record, Revoked told, ServerTime ends, ServerTime now) {
  told.was_cooling = now < ends;
  told.remaining = std::max(ends - now, Micros{0});
  if (!told.was_cooling) return told;
  if (record.state == HoldState::held) {
    // Closed in the ledger, and its lease is over.
    record.state = HoldState::revoked;
    count(record, record.who.job, "revoked");
  } else {
    record.state = HoldState::free;
    record.expires = {};
  }
  return told;
}

}  // namespace

Revoked revoke(Record& record, ServerTime now, Expiry expiry) {
  Revoked told{false, record.who.holder, record.fence, Micros{0}};
  if (record.state == HoldState::none || record.state == HoldState::free) return told;
  clamp(record, now, expiry);
  if (record.state == HoldState::cooling) return end_min_hold(record, told, record.expires, now);
  if (!alive(record, now, expiry))
    return record.state == HoldState::held
               ? end_min_hold(record, told, record.acquired + record.min_hold, now)
               : told;
  told.was_held = true;
  told.remaining = std::max(record.expires - now, Micros{0});
  if (record.state == HoldState::held) {
    record.state = HoldState::revoked;
    count(record, record.who.job, "revoked");
  }
  return told;
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

// As a request would find it: the clamp changes nothing here.
ServerTime min_hold_end(const Record& record, const LockView& shown, ServerTime now) {
  if (shown.state == LockState::cooling) return shown.expires;
  if (shown.state != LockState::expired) return {};
  const ServerTime end = std::min(record.acquired, now) + record.min_hold;
  return now < end ? end : ServerTime{};
}

}  // namespace

LockView view(std::string lock, const Record& record, ServerTime now, Expiry expiry) {
  LockView shown;
  shown.lock = std::move(lock);
  shown.state = state_of(record, now, expiry);
  shown.who = record.who;
  shown.fence = record.fence;
  shown.attempt = record.state == HoldState::none ? 0 : record.claim.attempt;
  shown.now = now;
  shown.acquired = record.acquired;
  shown.expires = clamped_expiry(record, now, expiry);
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
