// SPDX-License-Identifier: Apache-2.0
// Several slots: the seats of a record (docs/decisions/0041-slots.md).
#include <algorithm>

#include "base/text.h"
#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

constexpr std::size_t kShownHolder = 200;

bool is_free(const Seat& seat) {
  return seat.state == HoldState::none || seat.state == HoldState::free;
}

}  // namespace

Seats seats_of(Record& record) {
  Seats seats{&record};
  for (Seat& seat : record.more) seats.push_back(&seat);
  return seats;
}

ConstSeats seats_of(const Record& record) {
  ConstSeats seats{&record};
  for (const Seat& seat : record.more) seats.push_back(&seat);
  return seats;
}

Seat* seat_of(Record& record, const Claim& claim) {
  for (Seat* seat : seats_of(record))
    if (seat->state != HoldState::none && seat->claim == claim) return seat;
  return nullptr;
}

const Seat& newest(const Record& record) {
  const Seat* last = &record;
  for (const Seat& seat : record.more)
    if (seat.fence > last->fence) last = &seat;
  return *last;
}

const Seat& next_to_end(const Record& record, ServerTime now, Expiry expiry) {
  const Seat* next = &record;
  for (const Seat& seat : record.more) {
    if (is_free(seat)) continue;
    if (is_free(*next) || end_of(seat, now, expiry) < end_of(*next, now, expiry)) next = &seat;
  }
  return *next;
}

std::int64_t held_by_others(const Record& record, const std::string& job, const Seats& but) {
  const ConstSeats seats = seats_of(record);
  return std::count_if(seats.begin(), seats.end(), [&](const Seat* seat) {
    return seat->state == HoldState::held && seat->identity.job == job &&
           std::find(but.begin(), but.end(), seat) == but.end();
  });
}

void set_slots(Record& record, unsigned slots) {
  record.slots = slots;
  record.more.assign(slots - 1, Seat{});
}

void reset_if_idle(Record& record) {
  if (record.slots == 1 || !record.queue.empty()) return;
  for (const Seat* seat : seats_of(record))
    if (!is_free(*seat)) return;
  Seat last = newest(record);
  last.turn.reset();
  static_cast<Seat&>(record) = last;
  set_slots(record, 1);
}

std::optional<Unavailable> refuse_slots(const Request& request, std::string_view where) {
  const auto* acquire = std::get_if<Acquire>(&request);
  if (acquire == nullptr || acquire->slots == 1) return std::nullopt;
  return Unavailable{
      {Code::config,
       "slots is " + std::to_string(acquire->slots) + ", but " + std::string(where) +
           " supports one holder only",
       "set slots to 1, or use a single Redis, Redis Sentinel, Redis Cluster, PostgreSQL or a file "
       "store"},
      false,
      true};
}

Unavailable other_slots(const Acquire& request, unsigned stored, const std::string& holder) {
  return {{Code::config,
           "slots is " + std::to_string(request.slots) + ", and lock " + request.lock + " has " +
               std::to_string(stored) + ", which is held by " +
               (holder.empty() ? "another run" : printable(holder, kShownHolder)),
           "set slots to the same number in every run of the lock, or wait until its runs have "
           "ended"},
          false,
          true};
}

}  // namespace cronlatch::rules
