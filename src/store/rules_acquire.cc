// SPDX-License-Identifier: Apache-2.0
// Acquire: which request is granted the lock, which is answered busy, and what each counts (AQ1 to
// AQ6, AQ8, K1 to K6, L0, C2).
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

bool is_holder(const Record& record, const Claim& claim) {
  return record.state == HoldState::held && record.claim == claim;
}

// Without a lease the recorded grant of the caller cannot have expired.
bool is_live_holder(const Record& record, const Claim& claim, ServerTime now, Expiry expiry) {
  return is_holder(record, claim) && (expiry != Expiry::lease || alive(record, now, expiry));
}

// AQ4: this attempt has a final answer: it was released, lost, or followed by a later attempt.
bool is_closed(const Record& record, const Claim& claim, ServerTime now, Expiry expiry) {
  if (answered(record, claim, Answer::released, now) ||
      answered(record, claim, Answer::closed, now))
    return true;
  if (record.state == HoldState::none || record.claim.owner != claim.owner) return false;
  if (claim.attempt < record.claim.attempt) return true;
  return claim.attempt == record.claim.attempt && !is_live_holder(record, claim, now, expiry);
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
    if (record.turn) busy.remaining = std::max(record.turn->until - now, Micros{0});
    return busy;
  }
  const KeyState key = key_state(record.shared, foreign, now);
  if (reason == BusyReason::held && is_blocked(record, key, now, expiry)) {
    busy.holder = foreign_holder(foreign->format);
    busy.remaining = key.remaining;
    return busy;
  }
  if (reason == BusyReason::done || record.state == HoldState::none ||
      record.state == HoldState::free)
    return busy;
  busy.holder = record.identity.holder;
  busy.job = record.identity.job;
  busy.fence = record.fence;
  busy.held_for = std::max(now - record.acquired, Micros{0});
  // Without a lease only a min-hold has an end time.
  const bool crashed = reason == BusyReason::cooling && crashed_in_min_hold(record, now, expiry);
  const ServerTime ends = crashed ? record.acquired + record.min_hold : record.expires;
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
  const bool was_holder = is_holder(record, request.claim);
  if (was_holder) {
    // Another run marked the identity after the grant, and the caller never received the answer of
    // the grant: the grant is released.
    count(record, record.identity.job, "released");
    record.state = HoldState::free;
    record.expires = {};
    release_key(record, foreign, now, Micros{0});
  }
  count_skip(record, request.identity.job, "skipped_done", now);
  remember(record, request.claim, Answer::busy_done, now, request.ttl);
  Busy busy = busy_answer(record, BusyReason::done, now, expiry, foreign);
  if (waiting == Waiting::unordered) return busy;
  const Place place = open_queue(record, request.claim.owner, now);
  busy.wake = leave_queue(record, request.claim.owner, place, now);
  if (was_holder) busy.wake = hand_over(record, now);
  return busy;
}

// L0: the min-hold of an attempt group does not exclude that group.
bool is_own_group(const Record& record, const Acquire& request) {
  return !request.identity.group.empty() && request.identity.group == record.identity.group;
}

bool grantable(const Record& record, const Acquire& request, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  const bool own_group = is_own_group(record, request);
  switch (record.state) {
    case HoldState::none:
    case HoldState::free:
      return true;
    case HoldState::held:
      return !alive(record, now, expiry) &&
             (own_group || !crashed_in_min_hold(record, now, expiry));
    case HoldState::revoked:
      return !alive(record, now, expiry);
    case HoldState::cooling:
      return now >= record.expires || own_group;
  }
  return false;
}

Granted grant(Record& record, const Acquire& request, ServerTime now, Expiry expiry,
              ForeignKey* foreign) {
  const bool stole = record.state == HoldState::held;
  if (stole) count(record, record.identity.job, "stolen");  // AQ3: for the job that lost the lease
  if (stole || record.state == HoldState::revoked)
    remember(record, record.claim, Answer::closed, now, record.ttl);
  const Fence predecessor = record.fence;
  const Fence fence = std::max(predecessor + 1, static_cast<Fence>(now.us));  // AQ2
  set_holder(record, {request.claim, request.identity, fence, now, request.ttl, request.min_hold},
             now, expiry);
  record.stole = stole ? predecessor : 0;
  claim_key(record, foreign, now);
  count(record, request.identity.job, "acquired");
  if (request.waited > Millis{0}) count_wait(record, request.identity.job, request.waited);
  return Granted{fence, {}, expiry == Expiry::lease, stole};
}

// Whether a min-hold keeps the lock closed for all others.
bool is_cooling(const Record& record, ServerTime now, Expiry expiry) {
  if (record.state == HoldState::cooling) return now < record.expires;
  return crashed_in_min_hold(record, now, expiry);
}

BusyReason reason_for(const Record& record, ServerTime now, Expiry expiry, bool is_free,
                      const ForeignKey* foreign) {
  if (is_free) return BusyReason::queued;
  if (is_blocked(record, key_state(record.shared, foreign, now), now, expiry))
    return BusyReason::held;
  const bool cooling = (record.state == HoldState::cooling && expiry != Expiry::holder_present) ||
                       crashed_in_min_hold(record, now, expiry);
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

// A run that waits keeps its place or gets one. `free_for_others`: set if the lock is free.
void wait_in_order(Record& record, const Acquire& request, ServerTime now,
                   const std::optional<Place>& free_for_others, Busy& busy) {
  const std::string& owner = request.claim.owner;
  const bool ends = request.if_busy == IfBusy::timed_out;
  const bool probes = request.if_busy == IfBusy::probe;
  const bool waits = request.if_busy == IfBusy::wait || (!ends && !probes && busy.group_granted);
  if (!waits && !ends && !free_for_others) return;
  const Place place = free_for_others ? *free_for_others : open_queue(record, owner, now);
  if (ends) busy.wake = leave_queue(record, owner, place, now);
  if (free_for_others) {
    if (std::string reserved = reserve(record, now); !reserved.empty())
      busy.wake = std::move(reserved);
    busy.remaining = record.turn ? std::max(record.turn->until - now, Micros{0}) : Micros{0};
  }
  if (waits) busy.ahead = keep_place(record, owner, place, now);
}

// `free_for_others`: the caller's place, if only the order of the runs that wait excludes it.
Busy refuse(Record& record, const Acquire& request, ServerTime now, Expiry expiry, Waiting waiting,
            const std::optional<Place>& free_for_others, const ForeignKey* foreign) {
  const BusyReason reason = reason_for(record, now, expiry, free_for_others.has_value(), foreign);
  Busy busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = group_was_granted(record, request.identity.group, now);
  if (waiting == Waiting::in_order) wait_in_order(record, request, now, free_for_others, busy);
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

// AQ6: a free lock is granted to the first run that waits. If it is this one, its place is removed.
// A lost record has no reservations.
bool enters(Record& record, const Acquire& request, const Place& place, ServerTime now,
            Expiry expiry) {
  const std::string& owner = request.claim.owner;
  const bool before_all = record.state == HoldState::none ||
                          (is_own_group(record, request) && is_cooling(record, now, expiry));
  if (!before_all && !is_next(record, owner, place, now)) return false;
  record.queue.erase(owner);
  record.asked.erase(owner);
  return true;
}

// C2: a claim that was counted as busy gets the same answer again.
Busy repeated_busy(const Record& record, const Claim& claim, BusyReason reason, ServerTime now,
                   Expiry expiry, const ForeignKey* foreign) {
  Busy busy = busy_answer(record, reason, now, expiry, foreign);
  busy.group_granted = answered(record, claim, Answer::group_granted, now);
  return busy;
}

}  // namespace

void set_holder(Record& record, const Grant& grant, ServerTime now, Expiry expiry) {
  if (record.state == HoldState::none) record.born = now;
  record.state = HoldState::held;
  record.turn.reset();
  record.claim = grant.claim;
  record.identity = grant.identity;
  record.fence = grant.fence;
  record.stole = 0;
  record.acquired = grant.acquired;
  record.ttl = expiry == Expiry::lease ? grant.ttl : Micros{0};
  record.min_hold = std::max(grant.min_hold, Micros{0});
  record.expires = expiry == Expiry::lease ? now + grant.ttl : ServerTime{};
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
  // Another program took the key from this grant, whose answer the caller never received.
  if (!reason && is_holder(record, request.claim) && key.is_foreign() &&
      !is_done(record, request.identity, request.once_ttl, now))
    return TooLate{true};
  clamp(record, now, expiry);
  if (reason) return repeated_busy(record, request.claim, *reason, now, expiry, foreign);
  if (is_done(record, request.identity, request.once_ttl, now))
    return refuse_done(record, request, now, expiry, waiting, foreign);
  if (is_holder(record, request.claim)) {
    // A repeated request after an unknown result: the same fence, nothing is counted (AQ4).
    if (expiry == Expiry::lease) {
      record.expires = now + request.ttl;
      record.ttl = request.ttl;
    }
    claim_key(record, foreign, now);
    return Granted{record.fence, {}, expiry == Expiry::lease, record.stole != 0};
  }
  if (is_blocked(record, key, now, expiry) || !grantable(record, request, now, expiry))
    return refuse(record, request, now, expiry, waiting, std::nullopt, foreign);
  if (waiting == Waiting::in_order) {
    const Place place = open_queue(record, request.claim.owner, now);
    if (!enters(record, request, place, now, expiry))
      return refuse(record, request, now, expiry, waiting, place, foreign);
  }
  return grant(record, request, now, expiry, foreign);
}

}  // namespace cronlatch::rules
