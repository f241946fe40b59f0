// SPDX-License-Identifier: Apache-2.0
// The grants of a lock with several slots (option slots). The rules of a lock (store/rules.h)
// decide about one grant, so a decision first puts the grant of its slot into the record.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "store/file/record_codec.h"

namespace cronlatch::file {

// While it exists, stored.record has the grant of this slot. All else in the record is shared.
class OpenSlot {
 public:
  OpenSlot(Stored& stored, unsigned slot);
  ~OpenSlot();
  OpenSlot(const OpenSlot&) = delete;
  OpenSlot& operator=(const OpenSlot&) = delete;

 private:
  Stored& stored_;
  unsigned slot_;
  SlotGrant grant_;  // of slot 1, while another slot is open
};

// A slot without a recorded grant is free.
SlotGrant grant_of(const Stored& stored, unsigned slot);
// The slot whose last grant is that of the claim.
std::optional<unsigned> slot_of(const Stored& stored, const Claim& claim);
// Without its holder: whether a min-hold keeps the slot closed for runs of other groups.
bool is_closed(const SlotGrant& grant, const std::string& group, ServerTime now);

// Decides for a slot. A new fence is above those of all slots.
Reply decide_in_slot(Stored& stored, unsigned slot, const Acquire& request, ServerTime now,
                     ServerTime not_after, rules::Expiry expiry);

// No slot has a grant that was not released, and none is closed by a min-hold.
bool is_unused(const Stored& stored);
// For a lock that is unused, or whose holders are all dead: those are counted as stolen, except
// that of slot 1, which the next grant counts.
void set_slots(Stored& stored, unsigned slots);

}  // namespace cronlatch::file
