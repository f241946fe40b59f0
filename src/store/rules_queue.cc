// SPDX-License-Identifier: Apache-2.0
// Waiting in order: places, and the reservation of a free slot for the first run that waits (Q1 to
// Q7, AQ6, AQ8). A run has at most one reservation.
#include <algorithm>
#include <vector>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

bool dated_before(const Dated::value_type* a, const Dated::value_type* b) {
  return a->second != b->second ? a->second < b->second : a->first < b->first;
}

// The oldest of the entries for which `is_wanted`, at most kMaxPurgedPlaces.
template <class Wanted>
std::vector<std::string> oldest(const Dated& dated, Wanted is_wanted) {
  std::vector<const Dated::value_type*> found;
  for (const auto& entry : dated)
    if (is_wanted(entry.second)) found.push_back(&entry);
  std::sort(found.begin(), found.end(), dated_before);
  if (found.size() > kMaxPurgedPlaces) found.resize(kMaxPurgedPlaces);
  std::vector<std::string> owners;
  for (const auto* entry : found) owners.push_back(entry->first);
  return owners;
}

std::int64_t date_of(const Dated& dated, const std::string& name) {
  const auto at = dated.find(name);
  return at == dated.end() ? 0 : at->second;
}

void remove_place(Record& record, const std::string& owner) {
  record.queue.erase(owner);
  record.asked.erase(owner);
}

bool has_lapsed(const Turn& turn, ServerTime now) { return now >= turn.until; }

bool is_waiting(const Record& record, const std::string& owner) {
  return record.queue.contains(owner);
}

bool is_reserved(const Slot& slot, const std::string& owner, ServerTime now) {
  return slot.turn && slot.turn->owner == owner && !has_lapsed(*slot.turn, now);
}

// Whether another slot than `but` is reserved for the owner.
bool has_reservation(const Record& record, const std::string& owner, const Slot* but,
                     ServerTime now) {
  const ConstSlotList slot_list = slot_list_of(record);
  return std::any_of(slot_list.begin(), slot_list.end(), [&](const Slot* slot) {
    return slot != but && is_reserved(*slot, owner, now);
  });
}

// The first run that waits and for which no other slot is reserved; "" without one.
std::string first_place(const Record& record, const Slot& slot, ServerTime now) {
  const Dated::value_type* first = nullptr;
  for (const auto& entry : record.queue)
    if ((first == nullptr || dated_before(&entry, first)) &&
        !has_reservation(record, entry.first, &slot, now))
      first = &entry;
  return first == nullptr ? "" : first->first;
}

// How many runs without a reservation wait before the owner.
std::size_t count_before(const Record& record, const std::string& owner, ServerTime now) {
  const auto own = record.queue.find(owner);
  return static_cast<std::size_t>(
      std::count_if(record.queue.begin(), record.queue.end(), [&](const auto& entry) {
        return dated_before(&entry, &*own) && !has_reservation(record, entry.first, nullptr, now);
      }));
}

std::string reserve_until(Record& record, Slot& slot, ServerTime until, ServerTime now) {
  std::string first = first_place(record, slot, now);
  if (!first.empty()) slot.turn = Turn{first, until};
  return first;
}

// Whether a run that waits has the reservation.
bool is_kept(const Record& record, const Slot& slot, ServerTime now) {
  return slot.turn && !has_lapsed(*slot.turn, now) && is_waiting(record, slot.turn->owner);
}

Slot* first_without_turn(const Record& record, const SlotList& free, ServerTime now) {
  const auto at = std::find_if(free.begin(), free.end(),
                               [&](const Slot* slot) { return !is_kept(record, *slot, now); });
  return at == free.end() ? nullptr : *at;
}

// For a run without a place: a slot that is not reserved, or else the reserved one of a run that is
// silent. Null when as many runs answer as it could have slots.
Slot* slot_of_newcomer(const Record& record, const SlotList& free, std::size_t most,
                       ServerTime now) {
  const std::int64_t since = (now - kNewcomerPause).us;
  const auto answering = static_cast<std::size_t>(
      std::count_if(record.asked.begin(), record.asked.end(),
                    [since](const auto& entry) { return entry.second > since; }));
  if (answering >= std::min(free.size(), most)) return nullptr;
  if (Slot* const slot = first_without_turn(record, free, now)) return slot;
  const auto at = std::find_if(free.begin(), free.end(), [&](const Slot* slot) {
    return date_of(record.asked, slot->turn->owner) <= since;
  });
  return at == free.end() ? nullptr : *at;
}

}  // namespace

Place open_queue(Record& record, const std::string& owner, ServerTime now) {
  const std::int64_t dead = (now - kPlaceLife).us;
  Place place;
  place.tail = newest_date(record.queue, owner, now.us);
  // After a backward step of the clock a place lives from this request on.
  const auto later = oldest(record.asked, [&](std::int64_t asked) { return asked > now.us; });
  for (const std::string& gone :
       oldest(record.asked, [&](std::int64_t asked) { return asked <= dead; }))
    remove_place(record, gone);
  for (const std::string& other : later) record.asked[other] = now.us;
  if (date_of(record.asked, owner) <= dead) remove_place(record, owner);  // AQ8, Q4
  place.ticket = date_of(record.queue, owner);
  return place;
}

Slot* next_slot(const Record& record, const SlotList& free, std::size_t most,
                const std::string& owner, const Place& place, ServerTime now) {
  if (place.ticket == 0) return slot_of_newcomer(record, free, most, now);
  for (Slot* slot : free)
    if (is_reserved(*slot, owner, now)) return slot;
  for (Slot* slot : free)
    if (slot->turn && has_lapsed(*slot->turn, now)) return slot;
  const auto open = static_cast<std::size_t>(std::count_if(
      free.begin(), free.end(), [&](const Slot* slot) { return !is_kept(record, *slot, now); }));
  if (count_before(record, owner, now) >= std::min(open, most)) return nullptr;
  return first_without_turn(record, free, now);
}

// One slot in each call: a reply can wake one run.
std::string reserve(Record& record, const SlotList& free, ServerTime now) {
  const ServerTime latest = now + kTurn;
  std::string wake;
  for (Slot* slot : free) {
    if (slot->turn && has_lapsed(*slot->turn, now)) continue;
    // L7: a backward step of the clock does not extend a reservation.
    const ServerTime until = slot->turn ? std::min(slot->turn->until, latest) : latest;
    if (is_kept(record, *slot, now))
      slot->turn->until = until;
    else if (wake.empty())
      wake = reserve_until(record, *slot, until, now);
  }
  return wake;
}

std::string hand_over(Record& record, Slot& slot, ServerTime now) {
  return reserve_until(record, slot, now + kTurn, now);
}

Micros until_turn(const Record& record, ServerTime now) {
  Micros first{0};
  for (const Slot* slot : slot_list_of(record)) {
    if (!slot->turn || has_lapsed(*slot->turn, now)) continue;
    const Micros left = slot->turn->until - now;
    if (first == Micros{0} || left < first) first = left;
  }
  return first;
}

std::uint32_t keep_place(Record& record, const std::string& owner, const Place& place,
                         ServerTime now) {
  const std::int64_t ticket = place.ticket != 0 ? place.ticket : place.tail;
  record.queue[owner] = ticket;
  record.asked[owner] = now.us;
  const auto before = std::count_if(record.queue.begin(), record.queue.end(),
                                    [ticket](const auto& entry) { return entry.second < ticket; });
  return std::min(static_cast<std::uint32_t>(before), kMaxAhead);
}

std::string leave_queue(Record& record, const std::string& owner, const Place& place,
                        ServerTime now) {
  if (place.ticket == 0) return "";
  remove_place(record, owner);
  for (Slot* slot : slot_list_of(record))
    if (is_reserved(*slot, owner, now)) return hand_over(record, *slot, now);
  return "";
}

std::int64_t count_waiters(const Record& record, ServerTime now) {
  return std::count_if(record.asked.begin(), record.asked.end(),
                       [&](const auto& entry) { return entry.second > (now - kPlaceLife).us; });
}

const std::string& wake_of(const Reply& reply) {
  static const std::string none;
  if (const Busy* busy = std::get_if<Busy>(&reply)) return busy->wake;
  if (const Released* released = std::get_if<Released>(&reply)) return released->wake;
  if (const NotHolder* lost = std::get_if<NotHolder>(&reply)) return lost->wake;
  return none;
}

}  // namespace cronlatch::rules
