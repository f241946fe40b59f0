// SPDX-License-Identifier: Apache-2.0
// Acquire: which request is granted the lock, and which is answered busy (AQ1 to AQ6, AQ8, K1 to
// K6, L0, L5, C2).
#include <algorithm>
#include <utility>

#include "store/rules_acquire.h"

namespace cronlatch::rules {

namespace {

// Without a lease the recorded grant of the caller cannot have expired.
bool is_live(const Slot& slot, ServerTime now, Expiry expiry) {
  return slot.state == HoldState::held && (expiry != Expiry::lease || alive(slot, now, expiry));
}

// AQ4: this attempt has a final answer: it was released, lost, or followed by a later attempt.
bool is_closed(const Record& record, const Claim& claim, ServerTime now, Expiry expiry) {
  if (answered(record, claim, Answer::released, now) ||
      answered(record, claim, Answer::closed, now))
    return true;
  const ConstSlotList slot_list = slot_list_of(record);
  return std::any_of(slot_list.begin(), slot_list.end(), [&](const Slot* slot) {
    if (slot->state == HoldState::none || slot->claim.owner != claim.owner) return false;
    if (claim.attempt < slot->claim.attempt) return true;
    return claim.attempt == slot->claim.attempt && !is_live(*slot, now, expiry);
  });
}

// K2: the slot of another run with this identity, whose lease is live; null without one. A lock
// with one slot excludes that run itself.
const Slot* claimed_slot(const Record& record, const Identity& identity, ServerTime now,
                         Expiry expiry) {
  if (record.slots == 1 || identity.once.empty()) return nullptr;
  const ConstSlotList slot_list = slot_list_of(record);
  const auto at = std::find_if(slot_list.begin(), slot_list.end(), [&](const Slot* slot) {
    const bool granted = slot->state == HoldState::held || slot->state == HoldState::revoked;
    return granted && alive(*slot, now, expiry) && slot->identity.job == identity.job &&
           slot->identity.once == identity.once;
  });
  return at == slot_list.end() ? nullptr : *at;
}

// L0: the min-hold of an attempt group does not exclude that group.
bool is_own_group(const Slot& slot, const Acquire& request) {
  return !request.identity.group.empty() && request.identity.group == slot.identity.group;
}

bool grantable(const Slot& slot, const Acquire& request, ServerTime now, Expiry expiry) {
  if (expiry == Expiry::holder_present) return false;
  const bool own_group = is_own_group(slot, request);
  switch (slot.state) {
    case HoldState::none:
    case HoldState::free:
      return true;
    case HoldState::held:
      return !alive(slot, now, expiry) && (own_group || !crashed_in_min_hold(slot, now, expiry));
    case HoldState::revoked:
      return !alive(slot, now, expiry);
    case HoldState::cooling:
      return now >= slot.expires || own_group;
  }
  return false;
}

// The slots that could be granted, those without an expired grant first.
SlotList grantable_slots(Record& record, const Acquire& request, ServerTime now, Expiry expiry) {
  SlotList slot_list = slot_list_of(record);
  std::erase_if(slot_list,
                [&](const Slot* slot) { return !grantable(*slot, request, now, expiry); });
  std::stable_partition(slot_list.begin(), slot_list.end(),
                        [](const Slot* slot) { return slot->state != HoldState::held; });
  return slot_list;
}

// Whether a min-hold keeps the slot closed for all others.
bool is_cooling(const Slot& slot, ServerTime now, Expiry expiry) {
  if (slot.state == HoldState::cooling) return now < slot.expires;
  return crashed_in_min_hold(slot, now, expiry);
}

// AQ6: a free slot is granted to the first run that waits. If it is this one, its place is removed.
// A lost record has no reservations. Null: the caller is not the first.
Slot* enter(Record& record, const Acquire& request, const FreeForOthers& free, ServerTime now,
            Expiry expiry) {
  const std::string& owner = request.claim.owner;
  const auto before_all =
      std::find_if(free.slot_list.begin(), free.slot_list.end(), [&](const Slot* slot) {
        return record.state == HoldState::none ||
               (is_own_group(*slot, request) && is_cooling(*slot, now, expiry));
      });
  Slot* const slot = before_all != free.slot_list.end()
                         ? *before_all
                         : next_slot(record, free.slot_list, request.slots, owner, free.place, now);
  if (slot == nullptr) return nullptr;
  record.queue.erase(owner);
  record.asked.erase(owner);
  return slot;
}

// Another number of slots is refused while a lease or a min-hold excludes this request; nothing
// changes. The slot that is free first; no value: none excludes it.
std::optional<Slot> excludes_other_slots(const Record& record, const Acquire& request,
                                         ServerTime now, Expiry expiry) {
  std::optional<Slot> first;
  if (record.state == HoldState::none || record.slots == request.slots) return first;
  for (const Slot* stored : slot_list_of(record)) {
    Slot slot = *stored;
    clamp(slot, now, expiry);
    if (!grantable(slot, request, now, expiry) &&
        (!first || end_of(slot, now, expiry) < end_of(*first, now, expiry)))
      first = std::move(slot);
  }
  return first;
}

}  // namespace

Slot* held_by(Record& record, const Claim& claim) {
  Slot* const slot = slot_of(record, claim);
  return slot != nullptr && slot->state == HoldState::held ? slot : nullptr;
}

bool is_blocked(const Record& record, const KeyState& key, ServerTime now, Expiry expiry) {
  const bool granted = record.state == HoldState::held || record.state == HoldState::revoked;
  return key.is_in_effect() && !(granted && alive(record, now, expiry));
}

Reply decide(Record& record, const Acquire& request, ServerTime now, ServerTime not_after,
             Expiry expiry, Waiting waiting, ForeignKey* foreign) {
  if (now > not_after) return TooLate{false};
  const KeyState key = key_state(record.shared, foreign, now);
  if (key.hold == KeyHold::unreadable) return unreadable_key();
  const auto reason = counted_busy(record, request.claim, now);
  if (!reason && is_closed(record, request.claim, now, expiry)) return TooLate{true};
  Slot* const own = held_by(record, request.claim);
  const bool done = is_done(record, request.identity, request.once_ttl, now);
  // This attempt has a grant, and another program took its key, or its identity is done since then
  // (K3). The grant stays: its holder may have received it, and this request may be a copy that was
  // delayed on its way. Otherwise the caller tries again with another attempt.
  if (!reason && own != nullptr && (key.is_foreign() || done)) return TooLate{true};
  if (!reason && own == nullptr && !done)
    if (const auto holder = excludes_other_slots(record, request, now, expiry))
      return other_slots(request, record.slots, holder->identity.holder);
  for (Slot* slot : slot_list_of(record)) clamp(*slot, now, expiry);
  if (reason) return repeated_busy(record, request.claim, *reason, now, expiry, foreign);
  if (done) return refuse_done(record, request, now, expiry, waiting, foreign);
  if (own != nullptr) return grant_again(record, *own, request, now, expiry, foreign);
  FreeForOthers free{grantable_slots(record, request, now, expiry), {}};
  const Slot* const claimed = claimed_slot(record, request.identity, now, expiry);
  if (claimed != nullptr || is_blocked(record, key, now, expiry) || free.slot_list.empty())
    return refuse(record, request, now, expiry, waiting, std::nullopt, claimed, foreign);
  if (waiting == Waiting::unordered)
    return grant(record, *free.slot_list.front(), request, now, expiry, foreign);
  free.place = open_queue(record, request.claim.owner, now);
  Slot* const slot = enter(record, request, free, now, expiry);
  if (slot == nullptr) return refuse(record, request, now, expiry, waiting, free, nullptr, foreign);
  return grant(record, *slot, request, now, expiry, foreign);
}

}  // namespace cronlatch::rules
