// SPDX-License-Identifier: Apache-2.0
// The decision of each verb, between the kernel lock and the record.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "store/file/file_backend.h"
#include "store/file/kernel_file.h"
#include "store/file/slots.h"
#include "store/rules.h"

namespace cronlatch::file {
namespace {

// Answers are kept for callers that did not receive them. Here a caller always receives its answer,
// except when the disk is full. So few are kept: a job that runs every second would keep hundreds.
constexpr std::size_t kMaxAnswers = 8;

void keep_newest_answers(std::map<std::string, std::int64_t>& answers) {
  while (answers.size() > kMaxAnswers)
    answers.erase(
        std::min_element(answers.begin(), answers.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; }));
}

// Also in a record that is written again because it was lost: other processes find the holder by
// this namespace.
void name_this_process(Stored& stored) {
  stored.pid = getpid();
  stored.pid_namespace = own_pid_namespace();
}

}  // namespace

Unavailable unavailable(const Error& error) {
  return Unavailable{error, error.code == Code::unreachable, true};
}

Reply FileBackend::execute(Transaction& transaction, const Acquire& request) {
  const bool is_holder = find(request.lock, request.claim) != nullptr;
  Result<Choice> chosen = choose_slot(transaction, request);
  if (!chosen) return unavailable(chosen.error());
  Choice& choice = *chosen;
  Stored& stored = transaction.stored;
  const auto decide = [&](Stored& in) {
    return decide_in_slot(in, choice.slot, request, transaction.now, transaction.not_after,
                          choice.expiry);
  };
  Reply reply;
  if (choice.renumbers) {
    Stored renumbered = stored;
    set_slots(renumbered, request.slots);
    reply = decide(renumbered);
    if (std::holds_alternative<Granted>(reply))
      stored = std::move(renumbered);
    else
      reply = decide(stored);  // the number stays
  } else {
    reply = decide(stored);
  }
  // The record names this claim, but another process has its kernel lock, for example a forked copy
  // of this process.
  if (std::holds_alternative<Granted>(reply) && choice.expiry == rules::Expiry::holder_present) {
    const SlotGrant grant = grant_of(stored, choice.slot);
    return Busy{BusyReason::held, grant.identity.holder, grant.identity.job, grant.fence,
                transaction.now - grant.acquired};
  }
  if (std::holds_alternative<Granted>(reply)) {
    const OpenSlot open(stored, choice.slot);
    name_this_process(stored);
  }
  if (Status saved = save(transaction); !saved)
    return unavailable(saved.error());  // releases `taken`
  if (is_holder && std::holds_alternative<Busy>(reply)) unlock(find(request.lock, request.claim));
  if (std::holds_alternative<Granted>(reply) && choice.taken) {
    choice.taken->touch();  // the file may be as old as the lock
    held_.push_back({request.lock, transaction.files.base, request.claim, choice.slot,
                     std::move(*choice.taken)});
  }
  if (auto* busy = std::get_if<Busy>(&reply); busy && busy->reason == BusyReason::held &&
                                              busy->holder.empty() &&
                                              choice.expiry == rules::Expiry::holder_present) {
    // Taken without a record: by another program, or by a background process of a run.
    const Holder holder = find_holder(HolderTable(), transaction.files, 0, choice.slot);
    if (holder.pid != 0) busy->holder = "pid " + std::to_string(holder.pid);
  }
  return reply;
}

// There is no lease: a holder keeps the lock as long as it has the kernel lock.
Reply FileBackend::execute(Transaction& transaction, const Renew& request) {
  const HeldLock* const held = find(request.lock, request.claim);
  const bool is_holder = held != nullptr;
  std::optional<OpenSlot> open(
      std::in_place, transaction.stored,
      is_holder ? held->slot : slot_of(transaction.stored, request.claim).value_or(1));
  rules::Record& record = transaction.stored.record;
  const bool is_recorded = record.state == rules::HoldState::held && record.claim == request.claim;
  if (!is_holder && (record.state == rules::HoldState::none || is_recorded))
    return NotHolder{LostReason::gone};
  // The process with the kernel lock is the holder, even when an older record names another one.
  Renew of_slot = request;
  of_slot.slots = 1;
  const Reply reply =
      rules::decide(record, of_slot, transaction.now, transaction.not_after,
                    is_holder ? rules::Expiry::holder_gone : rules::Expiry::holder_present);
  if (std::holds_alternative<Renewed>(reply)) name_this_process(transaction.stored);
  open.reset();
  if (Status saved = save(transaction); !saved) return unavailable(saved.error());
  return reply;
}

Reply FileBackend::execute(Transaction& transaction, const Release& request) {
  const HeldLock* const held = find(request.lock, request.claim);
  Stored& stored = transaction.stored;
  std::optional<OpenSlot> open(
      std::in_place, stored,
      held != nullptr ? held->slot : slot_of(stored, request.claim).value_or(1));
  const Reply reply = rules::decide(stored.record, request, transaction.now, transaction.not_after,
                                    rules::Waiting::unordered);
  open.reset();
  if (std::holds_alternative<TooLate>(reply)) return reply;
  // The last release: the next grant sets the number, and version 0.1.0 can read the record.
  if (stored.slots > 1 && is_unused(stored)) set_slots(stored, 1);
  if (const Status saved = save(transaction); !saved) return unavailable(saved.error());
  unlock(find(request.lock, request.claim));
  return reply;
}

Status FileBackend::save(Transaction& transaction) {
  keep_newest_answers(transaction.stored.record.answers);
  const bool never_granted = transaction.before.text.empty() && transaction.stored == Stored{};
  std::string text = encode(transaction.files.lock, transaction.stored);
  if (never_granted || text == transaction.before.text) return Done{};
  return write_text(transaction.files, transaction.before, std::move(text));
}

FileBackend::HeldLock* FileBackend::find(const std::string& lock, const Claim& claim) {
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const HeldLock& held) {
    return held.lock == lock && held.claim == claim;
  });
  return at == held_.end() ? nullptr : &*at;
}

void FileBackend::unlock(const HeldLock* held) {
  if (held == nullptr) return;
  const auto at = held_.begin() + (held - held_.data());
  at->kernel_lock.unlock();
  held_.erase(at);
}

}  // namespace cronlatch::file
