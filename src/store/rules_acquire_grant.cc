// SPDX-License-Identifier: Apache-2.0
// Acquire: what a grant changes (AQ2 to AQ4).
#include <algorithm>

#include "store/rules_acquire.h"

namespace cronlatch::rules {

namespace {

void close_unreleased(Record& record, const Seat& seat, ServerTime now) {
  if (seat.state == HoldState::held)
    count(record, seat.identity.job, "stolen");  // AQ3: for the job that lost the lease
  if (seat.state == HoldState::held || seat.state == HoldState::revoked)
    remember(record, seat.claim, Answer::closed, now, seat.ttl);
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

Granted grant_again(Record& record, Seat& own, const Acquire& request, ServerTime now,
                    Expiry expiry, ForeignKey* foreign) {
  if (expiry == Expiry::lease) {
    own.expires = now + request.ttl;
    own.ttl = request.ttl;
  }
  claim_key(record, foreign, now);
  return Granted{own.fence, {}, expiry == Expiry::lease, own.stole != 0};
}

}  // namespace cronlatch::rules
