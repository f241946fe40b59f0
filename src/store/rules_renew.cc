// SPDX-License-Identifier: Apache-2.0
// Renew: only the holder, only while its lease lives (N1, N2, N4); a store that lost the record, or
// went back to an older one, takes it back from the holder (N3).
#include <algorithm>

#include "store/rules_parts.h"

namespace cronlatch::rules {

namespace {

Reply restore(Record& record, const Renew& request, ServerTime now, Tenure tenure) {
  if (answered(record, request.claim, Answer::released, now) ||
      answered(record, request.claim, Answer::closed, now))
    return NotHolder{LostReason::taken};
  if (request.fence == 0) return NotHolder{LostReason::gone};
  if (record.seat == Seat::held || record.seat == Seat::revoked)
    remember(record, record.claim, Answer::closed, now, record.ttl);
  // An open grant that is replaced is closed in its job's counters, unless they know better (C1).
  if (record.seat == Seat::held && open_grants(record, record.identity.job) > 0)
    count(record, record.identity.job, "stolen");
  // A fence is the time of its grant, unless the clock went back.
  const ServerTime acquired{std::min(static_cast<std::int64_t>(request.fence), now.us)};
  seat(record, {request.claim, request.identity, request.fence, acquired, request.ttl, Micros{0}},
       now, tenure);
  // Counters that outlived the record know of this grant already: the law must not see it twice.
  if (open_grants(record, request.identity.job) <= 0)
    count(record, request.identity.job, "acquired");
  count(record, request.identity.job, "restored");
  return Renewed{{}, true};
}

// Fences rise with each grant: a record with a smaller one is older than the caller's grant.
bool is_older(const Record& record, Fence fence) {
  return record.seat != Seat::none && record.fence < fence;
}

// Whether nothing lives that the record calls its holder: another lease must not be overwritten.
bool is_unheld(const Record& record, ServerTime now, Tenure tenure) {
  if (tenure == Tenure::occupied) return false;
  return record.seat == Seat::free || record.seat == Seat::cooling || !alive(record, now, tenure);
}

}  // namespace

LostReason why_not_ours(const Record& record, Fence fence) {
  if (record.seat == Seat::none) return LostReason::gone;
  // A record younger than our grant: the one we were in has been lost.
  const bool reborn = fence != 0 && static_cast<Fence>(record.born.us) > fence;
  return reborn || is_older(record, fence) ? LostReason::gone : LostReason::taken;
}

Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Tenure tenure) {
  if (now > not_after) return TooLate{false};
  if (record.seat == Seat::none) return restore(record, request, now, tenure);
  if (record.claim != request.claim) {
    if (is_older(record, request.fence) && is_unheld(record, now, tenure))
      return restore(record, request, now, tenure);
    return NotHolder{why_not_ours(record, request.fence)};
  }
  if (record.seat == Seat::revoked) return NotHolder{LostReason::revoked};
  if (record.seat != Seat::held) return NotHolder{LostReason::taken};
  if (tenure != Tenure::lease) return Renewed{};
  if (!alive(record, now, tenure)) return NotHolder{LostReason::expired};
  clamp(record, now, tenure);
  if (const ServerTime until = now + request.ttl; until >= record.expires) {
    record.expires = until;
    record.ttl = request.ttl;
  }
  date_record(record, now);
  return Renewed{};
}

}  // namespace cronlatch::rules
