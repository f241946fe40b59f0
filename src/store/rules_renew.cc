// SPDX-License-Identifier: Apache-2.0
// Renew: only for the holder, only during its lease (N1, N2, N4). A store that lost the record, or
// went back to an older one, restores it from the holder's request (N3).
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

Reply restore(Record& record, const Renew& request, ServerTime now, Expiry expiry,
              ForeignKey* foreign) {
  if (answered(record, request.claim, Answer::released, now) ||
      answered(record, request.claim, Answer::closed, now))
    return NotHolder{LostReason::taken};
  if (request.fence == 0) return NotHolder{LostReason::gone};
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  if (record.state == HoldState::held || record.state == HoldState::revoked)
    remember(record, record.claim, Answer::closed, now, record.ttl);
  // A replaced open grant is closed in its job's counters, unless they already count it closed
  // (C1).
  if (record.state == HoldState::held && open_grants(record, record.identity.job) > 0)
    count(record, record.identity.job, "stolen");
  // A fence is the time of its grant, except after a backward step of the clock.
  const ServerTime acquired{std::min(static_cast<std::int64_t>(request.fence), now.us)};
  set_holder(record,
             {request.claim, request.identity, request.fence, acquired, request.ttl, Micros{0}},
             now, expiry);
  claim_key(record, foreign, now);
  // Counters that were kept already count this grant: it must not be counted twice (C1).
  if (open_grants(record, request.identity.job) <= 0)
    count(record, request.identity.job, "acquired");
  count(record, request.identity.job, "restored");
  return Renewed{{}, true};
}

// Fences rise with each grant: a record with a smaller fence is older than the caller's grant.
bool is_older(const Record& record, Fence fence) {
  return record.state != HoldState::none && record.fence < fence;
}

// True when the recorded holder has no live lease: such a lease must not be overwritten.
bool is_unheld(const Record& record, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  return record.state == HoldState::free || record.state == HoldState::cooling ||
         !alive(record, now, expiry);
}

}  // namespace

LostReason loss_reason(const Record& record, Fence fence) {
  if (record.state == HoldState::none) return LostReason::gone;
  // The record is younger than the caller's grant: the record of that grant was lost.
  const bool reborn = fence != 0 && static_cast<Fence>(record.born.us) > fence;
  return reborn || is_older(record, fence) ? LostReason::gone : LostReason::taken;
}

Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Expiry expiry, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  if (record.state == HoldState::none) return restore(record, request, now, expiry, foreign);
  if (record.claim != request.claim) {
    if (is_older(record, request.fence) && is_unheld(record, now, expiry))
      return restore(record, request, now, expiry, foreign);
    return NotHolder{loss_reason(record, request.fence)};
  }
  if (record.state == HoldState::revoked) return NotHolder{LostReason::revoked};
  if (record.state != HoldState::held) return NotHolder{LostReason::taken};
  if (expiry != Expiry::lease) return Renewed{};
  if (!alive(record, now, expiry)) return NotHolder{LostReason::expired};
  // Never overwritten: the other program's run has begun.
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  clamp(record, now, expiry);
  if (const ServerTime until = now + request.ttl; until >= record.expires) {
    record.expires = until;
    record.ttl = request.ttl;
  }
  // N4: a renewal does not change the fence, unless a quorum granted the lock with a higher one.
  record.fence = std::max(record.fence, request.fence);
  claim_key(record, foreign, now);
  date_record(record, now);
  return Renewed{};
}

}  // namespace cronlatch::rules
