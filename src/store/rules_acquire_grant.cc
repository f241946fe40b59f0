// SPDX-License-Identifier: Apache-2.0
// Acquire: what a grant changes (AQ2 to AQ4).
#include <algorithm>

#include "store/rules_acquire.h"

namespace cronlatch::rules {

namespace {

void close_unreleased(Record& record, const Slot& slot, ServerTime now) {
  if (slot.state == HoldState::held)
    count(record, slot.identity.job, "stolen");  // AQ3: for the job that lost the lease
  if (slot.state == HoldState::held || slot.state == HoldState::revoked)
    remember(record, slot.claim, Answer::closed, now, slot.ttl);
}

}  // namespace

void set_holder(Record& record, Slot& slot, const Grant& grant, ServerTime now, Expiry expiry) {
  if (record.state == HoldState::none) record.born = now;
  slot.state = HoldState::held;
  slot.turn.reset();
  slot.claim = grant.claim;
  slot.identity = grant.identity;
  slot.fence = grant.fence;
  slot.stole = 0;
  slot.acquired = grant.acquired;
  slot.ttl = expiry == Expiry::lease ? grant.ttl : Micros{0};
  slot.min_hold = std::max(grant.min_hold, Micros{0});
  slot.expires = expiry == Expiry::lease ? now + grant.ttl : ServerTime{};
  date_record(record, now);
  remember_group(record, grant.identity.group, GroupState::open, now);
}

Granted grant(Record& record, Slot& chosen, const Acquire& request, ServerTime now, Expiry expiry,
              ForeignKey* foreign) {
  const bool resized = record.slots != request.slots;
  Slot& slot = resized ? record : chosen;
  const bool stole = slot.state == HoldState::held;
  for (const Slot* replaced : resized ? slot_list_of(record) : SlotList{&slot})
    close_unreleased(record, *replaced, now);
  const Fence predecessor = slot.fence;
  const Fence fence = std::max(newest(record).fence + 1, static_cast<Fence>(now.us));  // AQ2
  if (resized) set_slots(record, request.slots);
  set_holder(record, slot,
             {request.claim, request.identity, fence, now, request.ttl, request.min_hold}, now,
             expiry);
  slot.stole = stole ? predecessor : 0;
  claim_key(record, foreign, now);
  count(record, request.identity.job, "acquired");
  if (request.waited > Millis{0}) count_wait(record, request.identity.job, request.waited);
  return Granted{fence, {}, expiry == Expiry::lease, stole};
}

Granted grant_again(Record& record, Slot& own, const Acquire& request, ServerTime now,
                    Expiry expiry, ForeignKey* foreign) {
  if (expiry == Expiry::lease) {
    own.expires = now + request.ttl;
    own.ttl = request.ttl;
  }
  claim_key(record, foreign, now);
  return Granted{own.fence, {}, expiry == Expiry::lease, own.stole != 0};
}

}  // namespace cronlatch::rules
