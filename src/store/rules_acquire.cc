// SPDX-License-Identifier: Apache-2.0
// Acquire: who is granted the lock, who is told busy, and what either counts (AQ1 to AQ5, K1 to K6,
// L0, C2).
#include <algorithm>

#include "store/rules_parts.h"

namespace cronlatch::rules {

namespace {

bool is_holder(const Record& record, const Claim& claim) {
  return record.seat == Seat::held && record.claim == claim;
}

// Without a lease the record of a holder that asks again is its own proof: it cannot have expired.
bool holds_still(const Record& record, const Claim& claim, ServerTime now, Tenure tenure) {
  return is_holder(record, claim) && (tenure != Tenure::lease || alive(record, now, tenure));
}

// AQ4: this attempt was answered for good: released, lost, or followed by a later one.
bool is_closed(const Record& record, const Claim& claim, ServerTime now, Tenure tenure) {
  if (answered(record, claim, Answer::released, now) ||
      answered(record, claim, Answer::closed, now))
    return true;
  if (record.seat == Seat::none || record.claim.owner != claim.owner) return false;
  if (claim.attempt < record.claim.attempt) return true;
  return claim.attempt == record.claim.attempt && !holds_still(record, claim, now, tenure);
}

std::optional<BusyReason> counted_busy(const Record& record, const Claim& claim, ServerTime now) {
  if (answered(record, claim, Answer::busy_held, now)) return BusyReason::held;
  if (answered(record, claim, Answer::busy_cooling, now)) return BusyReason::cooling;
  if (answered(record, claim, Answer::busy_done, now)) return BusyReason::done;
  return std::nullopt;
}

Busy busy_answer(const Record& record, BusyReason reason, ServerTime now, Tenure tenure) {
  Busy busy;
  busy.reason = reason;
  if (reason == BusyReason::done || record.seat == Seat::none || record.seat == Seat::free)
    return busy;
  busy.holder = record.identity.holder;
  busy.job = record.identity.job;
  busy.fence = record.fence;
  busy.held_for = std::max(now - record.acquired, Micros{0});
  // Without a lease only a min-hold has an end.
  const bool crashed = reason == BusyReason::cooling && crashed_in_min_hold(record, now, tenure);
  const ServerTime ends = crashed ? record.acquired + record.min_hold : record.expires;
  busy.remaining = std::max(ends - now, Micros{0});
  return busy;
}

void count_skip(Record& record, const std::string& job, std::string_view reason, ServerTime now) {
  count(record, job, reason);
  count(record, job, "runs_skipped");
  stamp(record, job, "last_skip", now);
}

// K3: done blocks everyone, however they would have liked to be refused.
Busy refuse_done(Record& record, const Acquire& request, ServerTime now, Tenure tenure) {
  if (is_holder(record, request.claim)) {
    // Another run marked the identity after the grant, whose answer this caller has not had: the
    // grant is not used.
    count(record, record.identity.job, "released");
    record.seat = Seat::free;
    record.expires = {};
  }
  count_skip(record, request.identity.job, "skipped_done", now);
  remember(record, request.claim, Answer::busy_done, now, request.ttl);
  return busy_answer(record, BusyReason::done, now, tenure);
}

bool grantable(const Record& record, const Acquire& request, ServerTime now, Tenure tenure) {
  if (tenure == Tenure::occupied) return false;
  // L0: an attempt group is not bound by a min-hold of its own.
  const bool own_group =
      !request.identity.group.empty() && request.identity.group == record.identity.group;
  switch (record.seat) {
    case Seat::none:
    case Seat::free:
      return true;
    case Seat::held:
      return !alive(record, now, tenure) &&
             (own_group || !crashed_in_min_hold(record, now, tenure));
    case Seat::revoked:
      return !alive(record, now, tenure);
    case Seat::cooling:
      return now >= record.expires || own_group;
  }
  return false;
}

Granted grant(Record& record, const Acquire& request, ServerTime now, Tenure tenure) {
  const bool stole = record.seat == Seat::held;
  if (stole) count(record, record.identity.job, "stolen");  // AQ3: for the job that lost it
  if (stole || record.seat == Seat::revoked)
    remember(record, record.claim, Answer::closed, now, record.ttl);
  const Fence predecessor = record.fence;
  const Fence fence = std::max(predecessor + 1, static_cast<Fence>(now.us));  // AQ2
  seat(record, {request.claim, request.identity, fence, now, request.ttl, request.min_hold}, now,
       tenure);
  record.stole = stole ? predecessor : 0;
  count(record, request.identity.job, "acquired");
  if (request.waited > Millis{0}) count_wait(record, request.identity.job, request.waited);
  return Granted{fence, {}, tenure == Tenure::lease, stole};
}

Busy refuse(Record& record, const Acquire& request, ServerTime now, Tenure tenure) {
  const bool cooling = (record.seat == Seat::cooling && tenure != Tenure::occupied) ||
                       crashed_in_min_hold(record, now, tenure);
  Busy busy = busy_answer(record, cooling ? BusyReason::cooling : BusyReason::held, now, tenure);
  busy.group_granted = group_was_granted(record, request.identity.group, now);
  switch (request.if_busy) {
    case IfBusy::wait:
      return busy;
    case IfBusy::skip:
      if (busy.group_granted) return busy;  // L5: it will wait instead
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
  remember(record, request.claim, cooling ? Answer::busy_cooling : Answer::busy_held, now,
           request.ttl);
  if (busy.group_granted) remember(record, request.claim, Answer::group_granted, now, request.ttl);
  return busy;
}

// C2: what was counted as busy stays busy, and is answered alike.
Busy repeated_busy(const Record& record, const Claim& claim, BusyReason reason, ServerTime now,
                   Tenure tenure) {
  Busy busy = busy_answer(record, reason, now, tenure);
  busy.group_granted = answered(record, claim, Answer::group_granted, now);
  return busy;
}

}  // namespace

void seat(Record& record, const Grant& grant, ServerTime now, Tenure tenure) {
  if (record.seat == Seat::none) record.born = now;
  record.seat = Seat::held;
  record.claim = grant.claim;
  record.identity = grant.identity;
  record.fence = grant.fence;
  record.stole = 0;
  record.acquired = grant.acquired;
  record.ttl = tenure == Tenure::lease ? grant.ttl : Micros{0};
  record.min_hold = std::max(grant.min_hold, Micros{0});
  record.expires = tenure == Tenure::lease ? now + grant.ttl : ServerTime{};
  date_record(record, now);
  remember_group(record, grant.identity.group, GroupIs::open, now);
}

Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Tenure tenure) {
  if (now > not_after) return TooLate{false};
  const auto reason = counted_busy(record, request.claim, now);
  if (!reason && is_closed(record, request.claim, now, tenure)) return TooLate{true};
  clamp(record, now, tenure);
  if (reason) return repeated_busy(record, request.claim, *reason, now, tenure);
  if (is_done(record, request.identity, request.once_ttl, now))
    return refuse_done(record, request, now, tenure);
  if (is_holder(record, request.claim)) {
    // Asked again after an unknown result: the same fence, nothing is counted (AQ4).
    if (tenure == Tenure::lease) {
      record.expires = now + request.ttl;
      record.ttl = request.ttl;
    }
    return Granted{record.fence, {}, tenure == Tenure::lease, record.stole != 0};
  }
  if (grantable(record, request, now, tenure)) return grant(record, request, now, tenure);
  return refuse(record, request, now, tenure);
}

}  // namespace cronlatch::rules
