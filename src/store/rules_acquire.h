// SPDX-License-Identifier: Apache-2.0
// The parts of acquire: what a busy answer contains and counts, and what a grant changes. Only
// rules_acquire*.cc include this header.
#pragma once

#include <optional>

#include "store/rules_internal.h"

namespace cronlatch::rules {

// ---- slots ----
// The open grant of the claim; null without one.
Slot* held_by(Record& record, const Claim& claim);
// Another program has the key, and no lease of the lock itself is in effect.
bool is_blocked(const Record& record, const KeyState& key, ServerTime now, Expiry expiry);

// The slots that are free, and the caller's place: only the order of the runs that wait excludes
// it.
struct FreeForOthers {
  SlotList slot_list;
  Place place;
};

// ---- busy (rules_acquire_busy.cc) ----
// C2: the reason that this claim was already counted and answered with.
std::optional<BusyReason> counted_busy(const Record& record, const Claim& claim, ServerTime now);
// C2: a claim that was counted as busy gets the same answer again.
Busy repeated_busy(const Record& record, const Claim& claim, BusyReason reason, ServerTime now,
                   Expiry expiry, const ForeignKey* foreign);
// K3: a finished identity blocks every request, whatever its if_busy is.
Busy refuse_done(Record& record, const Acquire& request, ServerTime now, Expiry expiry,
                 Waiting waiting, ForeignKey* foreign);
// The lock is held, or `free` slots are granted to other runs first, or another run has the
// identity (`claimed`: its slot, else null).
Busy refuse(Record& record, const Acquire& request, ServerTime now, Expiry expiry, Waiting waiting,
            const std::optional<FreeForOthers>& free, const Slot* claimed,
            const ForeignKey* foreign);

// ---- grant (rules_acquire_grant.cc) ----
// Another number of slots replaces all grants: the first slot is granted, and the others are free.
Granted grant(Record& record, Slot& chosen, const Acquire& request, ServerTime now, Expiry expiry,
              ForeignKey* foreign);
// AQ4: a repeated request after an unknown result gets the same fence; nothing is counted.
Granted grant_again(Record& record, Slot& own, const Acquire& request, ServerTime now,
                    Expiry expiry, ForeignKey* foreign);

}  // namespace cronlatch::rules
