// SPDX-License-Identifier: Apache-2.0
// The slot that a run acquires. The caller has the mutex, so no other run tries the kernel locks of
// the slots at the same time.
#include <utility>
#include <vector>

#include "core/lock_file.h"
#include "store/file/file_backend.h"
#include "store/file/kernel_file.h"
#include "store/file/slots.h"

namespace cronlatch::file {
namespace {

using rules::Expiry;

Error other_number(const LockFiles& files, const Stored& stored, unsigned slot, unsigned wanted) {
  std::string holder = grant_of(stored, slot).identity.holder;
  if (const Holder process = find_holder(HolderTable(), files, 0, slot);
      holder.empty() && process.pid != 0)
    holder = "process " + std::to_string(process.pid);
  return {Code::config,
          "slots is " + std::to_string(wanted) + ", and lock " + files.lock + " has " +
              std::to_string(stored.slots) + ", which is held by " +
              (holder.empty() ? "another run" : holder),
          "set slots to the same number in every run of the lock, or wait until its runs have "
          "ended"};
}

// The slot whose holder the answer busy names: of the held ones, else of the closed ones, that with
// the oldest grant. The kernel lock of a closed one is kept until the answer is decided.
class BusySlot {
 public:
  void add(unsigned slot, const SlotGrant& grant, std::optional<KernelLock> closed) {
    const Expiry expiry = closed ? Expiry::holder_gone : Expiry::holder_present;
    const bool is_better = expiry == choice_.expiry ? grant.acquired < since_ : !closed;
    if (found_ && !is_better) return;
    found_ = true;
    since_ = grant.acquired;
    choice_ = {slot, expiry, std::move(closed)};
  }
  FileBackend::Choice take() { return std::move(choice_); }

 private:
  bool found_ = false;
  ServerTime since_{};
  FileBackend::Choice choice_;
};

// K2: the slot of another run with this identity, whose kernel lock is held. A lock with one slot
// excludes that run itself.
Result<std::optional<unsigned>> claimed_slot(const LockFiles& files, const Stored& stored,
                                             const Identity& identity) {
  if (identity.once.empty()) return std::optional<unsigned>{};
  for (unsigned slot = 1; slot <= stored.slots && stored.slots > 1; ++slot) {
    const SlotGrant grant = grant_of(stored, slot);
    if (grant.state != rules::HoldState::held || grant.identity.job != identity.job ||
        grant.identity.once != identity.once)
      continue;
    const auto tried = try_take_kernel_lock(files, slot);
    if (!tried) return tried.error();
    if (!*tried) return std::optional(slot);
  }
  return std::optional<unsigned>{};
}

// The slot of the caller's recorded grant first.
std::vector<unsigned> in_order(const Stored& stored, const Claim& claim) {
  const auto own = slot_of(stored, claim);
  std::vector<unsigned> slots;
  if (own) slots.push_back(*own);
  for (unsigned slot = 1; slot <= stored.slots; ++slot)
    if (slot != own) slots.push_back(slot);
  return slots;
}

}  // namespace

Result<FileBackend::Choice> FileBackend::choose_slot(Transaction& transaction,
                                                     const Acquire& request) {
  const Stored& stored = transaction.stored;
  const LockFiles& files = transaction.files;
  if (const HeldLock* held = find(request.lock, request.claim))
    return Choice{held->slot, Expiry::holder_gone};
  if (request.slots > 1 && file_of_lock(request.lock))
    return Error{
        Code::config,
        "slots: " + std::to_string(request.slots) + " is above 1, and a lock-file has one holder",
        "remove slots, or replace lock-file by lock"};
  const bool renumbers = request.slots != stored.slots;
  if (!renumbers) {
    const auto claimed = claimed_slot(files, stored, request.identity);
    if (!claimed) return claimed.error();
    if (*claimed) return Choice{**claimed, Expiry::holder_present};
  }
  BusySlot busy;
  Choice first;
  std::vector<KernelLock> others;
  bool has_closed = false;
  for (const unsigned slot : in_order(stored, request.claim)) {
    auto tried = try_take_kernel_lock(files, slot);
    if (!tried) return tried.error();
    const SlotGrant grant = grant_of(stored, slot);
    if (!*tried && renumbers) return other_number(files, stored, slot, request.slots);
    if (!*tried) {
      busy.add(slot, grant, std::nullopt);
    } else if (grant.claim != request.claim &&
               is_closed(grant, request.identity.group, transaction.now)) {
      has_closed = true;
      busy.add(slot, grant, std::move(*tried));
    } else if (!renumbers) {
      return Choice{slot, Expiry::holder_gone, std::move(*tried)};
    } else if (slot == 1) {
      first.taken = std::move(*tried);
    } else {
      others.push_back(std::move(**tried));  // until all slots are tried
    }
  }
  if (!renumbers || has_closed) return busy.take();
  first.renumbers = true;
  return first;
}

}  // namespace cronlatch::file
