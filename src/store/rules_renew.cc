// SPDX-License-Identifier: Apache-2.0
// Renew: only the holder, only while its lease lives (N1, N2, N4); a store that lost the record
// takes it back from the holder (N3).
#include <algorithm>

#include "store/rules_parts.h"

namespace cronlatch::rules {

namespace {

Reply restore(Record& record, const Renew& request, ServerTime now, Tenure tenure) {
  if (answered(record, request.claim, Answer::released, now) ||
      answered(record, request.claim, Answer::closed, now))
    return NotOurs{LostBecause::taken};
  if (request.fence == 0) return NotOurs{LostBecause::gone};
  // A fence is the time of its grant, unless the clock went back.
  const ServerTime acquired{std::min(static_cast<std::int64_t>(request.fence), now.us)};
  seat(record, {request.claim, request.who, request.fence, acquired, request.ttl}, now, tenure);
  // Counters that outlived the record know of this grant already: the law must not see it twice.
  if (open_grants(record, request.who.job) <= 0) count(record, request.who.job, "acquired");
  count(record, request.who.job, "restored");
  return Kept{{}, true};
}

}  // namespace

LostBecause why_not_ours(const Record& record, Fence fence) {
  if (record.seat == Seat::none) return LostBecause::gone;
  // A record younger than our grant: the one we were in has been lost.
  const bool reborn = fence != 0 && static_cast<Fence>(record.born.us) > fence;
  return reborn ? LostBecause::gone : LostBecause::taken;
}

Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Tenure tenure) {
  if (now > not_after) return Stale{false};
  if (record.seat == Seat::none) return restore(record, request, now, tenure);
  if (record.claim != request.claim) return NotOurs{why_not_ours(record, request.fence)};
  if (record.seat == Seat::revoked) return NotOurs{LostBecause::revoked};
  if (record.seat != Seat::held) return NotOurs{LostBecause::taken};
  if (tenure != Tenure::lease) return Kept{};
  if (!alive(record, now, tenure)) return NotOurs{LostBecause::expired};
  clamp(record, now, tenure);
  if (const ServerTime until = now + request.ttl; until >= record.expires) {
    record.expires = until;
    record.ttl = request.ttl;
  }
  date_record(record, now);
  return Kept{};
}

}  // namespace cronlatch::rules
