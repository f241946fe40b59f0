// SPDX-License-Identifier: Apache-2.0
// Renew: only for the holder, only during its lease (N1, N2, N4). A store that lost the record, or
// went back to an older one, restores it from the holder's request (N3).
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

// Fences rise with each grant: a slot with a smaller fence is older than the caller's grant.
bool is_older(const Slot& slot, Fence fence) { return slot.fence < fence; }

// True when the recorded holder has no live lease: such a lease must not be overwritten.
bool is_unheld(const Slot& slot, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  return slot.state == HoldState::none || slot.state == HoldState::free ||
         slot.state == HoldState::cooling || !alive(slot, now, expiry);
}

// The slots that the caller's lost grant replaces: one that no run holds, preferably a released
// one. All of them, if their number differs. Empty when the grant cannot be restored.
SlotList replaceable(Record& record, const Renew& request, ServerTime now, Expiry expiry) {
  SlotList slot_list = slot_list_of(record);
  if (record.state == HoldState::none) return slot_list;
  const auto fits = [&](const Slot* slot) {
    return is_older(*slot, request.fence) && is_unheld(*slot, now, expiry);
  };
  if (record.slots != request.slots)
    return std::all_of(slot_list.begin(), slot_list.end(), fits) ? slot_list : SlotList{};
  std::erase_if(slot_list, [&](const Slot* slot) { return !fits(slot); });
  const auto is_closed = [](const Slot* slot) {
    return slot->state == HoldState::none || slot->state == HoldState::free;
  };
  const auto at = std::find_if(slot_list.begin(), slot_list.end(), is_closed);
  if (slot_list.empty()) return {};
  return {at != slot_list.end() ? *at : slot_list.front()};
}

// A replaced open grant is closed in its job's counters, unless they already count it closed (C1).
void close_replaced(Record& record, const SlotList& replaced, ServerTime now) {
  for (const Slot* slot : replaced) {
    if (slot->state == HoldState::held || slot->state == HoldState::revoked)
      remember(record, slot->claim, Answer::closed, now, slot->ttl);
    const std::string& job = slot->identity.job;
    if (slot->state == HoldState::held &&
        open_grants(record, job) > held_by_others(record, job, replaced))
      count(record, job, "stolen");
  }
}

Reply restore(Record& record, const SlotList& replaced, const Renew& request, ServerTime now,
              Expiry expiry, ForeignKey* foreign) {
  if (answered(record, request.claim, Answer::released, now) ||
      answered(record, request.claim, Answer::closed, now))
    return NotHolder{LostReason::taken};
  if (request.fence == 0) return NotHolder{LostReason::gone};
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  close_replaced(record, replaced, now);
  const std::string& job = request.identity.job;
  const std::int64_t others = held_by_others(record, job, replaced);
  if (record.slots != request.slots) set_slots(record, request.slots);
  // A fence is the time of its grant, except after a backward step of the clock.
  const ServerTime acquired{std::min(static_cast<std::int64_t>(request.fence), now.us)};
  set_holder(record, *replaced.front(),
             {request.claim, request.identity, request.fence, acquired, request.ttl, Micros{0}},
             now, expiry);
  claim_key(record, foreign, now);
  // Counters that were kept already count this grant: it must not be counted twice (C1).
  if (open_grants(record, job) <= others) count(record, job, "acquired");
  count(record, job, "restored");
  return Renewed{{}, true};
}

}  // namespace

LostReason loss_reason(const Record& record, Fence fence) {
  if (record.state == HoldState::none) return LostReason::gone;
  // The record is younger than the caller's grant: the record of that grant was lost.
  const bool reborn = fence != 0 && static_cast<Fence>(record.born.us) > fence;
  return reborn || is_older(newest(record), fence) ? LostReason::gone : LostReason::taken;
}

Reply decide(Record& record, const Renew& request, ServerTime now, ServerTime not_after,
             Expiry expiry, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  Slot* const slot = slot_of(record, request.claim);
  if (slot == nullptr) {
    const SlotList replaced = replaceable(record, request, now, expiry);
    if (!replaced.empty()) return restore(record, replaced, request, now, expiry, foreign);
    return NotHolder{loss_reason(record, request.fence)};
  }
  if (slot->state == HoldState::revoked) return NotHolder{LostReason::revoked};
  if (slot->state != HoldState::held) return NotHolder{LostReason::taken};
  if (expiry != Expiry::lease) return Renewed{};
  if (!alive(*slot, now, expiry)) return NotHolder{LostReason::expired};
  // Never overwritten: the other program's run has begun.
  if (key_state(record.shared, foreign, now).is_foreign()) return NotHolder{LostReason::taken};
  clamp(*slot, now, expiry);
  if (const ServerTime until = now + request.ttl; until >= slot->expires) {
    slot->expires = until;
    slot->ttl = request.ttl;
  }
  // N4: a renewal does not change the fence, unless a quorum granted the lock with a higher one.
  slot->fence = std::max(slot->fence, request.fence);
  claim_key(record, foreign, now);
  date_record(record, now);
  return Renewed{};
}

}  // namespace cronlatch::rules
