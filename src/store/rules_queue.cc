// SPDX-License-Identifier: Apache-2.0
// Waiting in order: places, and the reservation of a free lock for the first run that waits (Q1 to
// Q7, AQ6, AQ8).
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

// "" when no run waits.
std::string first_place(const Record& record) {
  const Dated::value_type* first = nullptr;
  for (const auto& entry : record.queue)
    if (first == nullptr || dated_before(&entry, first)) first = &entry;
  return first == nullptr ? "" : first->first;
}

bool has_lapsed(const Turn& turn, ServerTime now) { return now >= turn.until; }

bool is_waiting(const Record& record, const std::string& owner) {
  return record.queue.contains(owner);
}

std::string reserve_until(Record& record, ServerTime until) {
  std::string first = first_place(record);
  if (!first.empty()) record.turn = Turn{first, until};
  return first;
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

bool is_next(const Record& record, const std::string& owner, const Place& place, ServerTime now) {
  if (place.ticket == 0) {
    const std::int64_t since = (now - kNewcomerPause).us;
    return std::none_of(record.asked.begin(), record.asked.end(),
                        [since](const auto& entry) { return entry.second > since; });
  }
  if (record.turn && has_lapsed(*record.turn, now)) return true;
  if (record.turn && is_waiting(record, record.turn->owner)) return record.turn->owner == owner;
  return first_place(record) == owner;
}

std::string reserve(Record& record, ServerTime now) {
  const ServerTime latest = now + kTurn;
  if (!record.turn) return reserve_until(record, latest);
  if (has_lapsed(*record.turn, now)) return "";
  // L7: a backward step of the clock does not extend a reservation.
  const ServerTime until = std::min(record.turn->until, latest);
  if (!is_waiting(record, record.turn->owner)) return reserve_until(record, until);
  record.turn->until = until;
  return "";
}

std::string hand_over(Record& record, ServerTime now) { return reserve_until(record, now + kTurn); }

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
  const bool was_reserved =
      record.turn && record.turn->owner == owner && !has_lapsed(*record.turn, now);
  return was_reserved ? hand_over(record, now) : "";
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
