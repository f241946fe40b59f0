// SPDX-License-Identifier: Apache-2.0
// Several slots: the slots of a record (docs/decisions/0041-slots.md).
#include <algorithm>

#include "base/text.h"
#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

constexpr std::size_t kShownHolder = 200;

bool is_free(const Slot& slot) {
  return slot.state == HoldState::none || slot.state == HoldState::free;
}

}  // namespace

SlotList slot_list_of(Record& record) {
  SlotList slot_list{&record};
  for (Slot& slot : record.more) slot_list.push_back(&slot);
  return slot_list;
}

ConstSlotList slot_list_of(const Record& record) {
  ConstSlotList slot_list{&record};
  for (const Slot& slot : record.more) slot_list.push_back(&slot);
  return slot_list;
}

Slot* slot_of(Record& record, const Claim& claim) {
  for (Slot* slot : slot_list_of(record))
    if (slot->state != HoldState::none && slot->claim == claim) return slot;
  return nullptr;
}

const Slot& newest(const Record& record) {
  const Slot* last = &record;
  for (const Slot& slot : record.more)
    if (slot.fence > last->fence) last = &slot;
  return *last;
}

const Slot& next_to_end(const Record& record, ServerTime now, Expiry expiry) {
  const Slot* next = &record;
  for (const Slot& slot : record.more) {
    if (is_free(slot)) continue;
    if (is_free(*next) || end_of(slot, now, expiry) < end_of(*next, now, expiry)) next = &slot;
  }
  return *next;
}

std::int64_t held_by_others(const Record& record, const std::string& job, const SlotList& but) {
  const ConstSlotList slot_list = slot_list_of(record);
  return std::count_if(slot_list.begin(), slot_list.end(), [&](const Slot* slot) {
    return slot->state == HoldState::held && slot->identity.job == job &&
           std::find(but.begin(), but.end(), slot) == but.end();
  });
}

void set_slots(Record& record, unsigned slots) {
  record.slots = slots;
  record.more.assign(slots - 1, Slot{});
}

void reset_if_idle(Record& record) {
  if (record.slots == 1 || !record.queue.empty()) return;
  for (const Slot* slot : slot_list_of(record))
    if (!is_free(*slot)) return;
  Slot last = newest(record);
  last.turn.reset();
  static_cast<Slot&>(record) = last;
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
