// SPDX-License-Identifier: Apache-2.0
// The decision of each verb, between the kernel lock and the record.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "store/file/file_backend.h"
#include "store/file/kernel_file.h"
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

}  // namespace

Unavailable unavailable(const Error& error) {
  return Unavailable{error, error.code == Code::unreachable, true};
}

Reply FileBackend::execute(Transaction& transaction, const Acquire& request) {
  const bool is_holder = find(request.lock, request.claim) != nullptr;
  std::optional<KernelLock> taken;
  if (!is_holder) {
    auto tried = try_take_kernel_lock(transaction.files);
    if (!tried) return unavailable(tried.error());
    taken = std::move(*tried);
  }
  rules::Record& record = transaction.stored.record;
  const bool is_taken = !is_holder && !taken;
  Reply reply = rules::decide(record, request, transaction.now, transaction.not_after,
                              is_taken ? rules::Expiry::holder_present : rules::Expiry::holder_gone,
                              rules::Waiting::unordered);
  // The record names this claim, but another process has its kernel lock, for example a forked copy
  // of this process.
  if (std::holds_alternative<Granted>(reply) && is_taken)
    return Busy{BusyReason::held, record.identity.holder, record.identity.job, record.fence,
                transaction.now - record.acquired};
  if (std::holds_alternative<Granted>(reply) && taken) {
    transaction.stored.pid = getpid();
    transaction.stored.pid_namespace = own_pid_namespace();
  }
  if (Status saved = save(transaction); !saved)
    return unavailable(saved.error());  // releases `taken`
  if (is_holder && std::holds_alternative<Busy>(reply)) unlock(find(request.lock, request.claim));
  if (std::holds_alternative<Granted>(reply) && taken) {
    taken->touch();  // the file may be as old as the lock
    held_.push_back({request.lock, transaction.files.base, request.claim, std::move(*taken)});
  }
  if (auto* busy = std::get_if<Busy>(&reply);
      busy && busy->reason == BusyReason::held && busy->holder.empty()) {
    // Taken without a record: by another program, or by a background process of a run.
    const Holder holder = find_holder(HolderTable(), transaction.files, 0);
    if (holder.pid != 0) busy->holder = "pid " + std::to_string(holder.pid);
  }
  return reply;
}

// There is no lease: a holder keeps the lock as long as it has the kernel lock.
Reply FileBackend::execute(Transaction& transaction, const Renew& request) {
  const bool is_holder = find(request.lock, request.claim) != nullptr;
  rules::Record& record = transaction.stored.record;
  const bool is_recorded = record.state == rules::HoldState::held && record.claim == request.claim;
  if (!is_holder && (record.state == rules::HoldState::none || is_recorded))
    return NotHolder{LostReason::gone};
  // The process with the kernel lock is the holder, even when an older record names another one.
  const Reply reply =
      rules::decide(record, request, transaction.now, transaction.not_after,
                    is_holder ? rules::Expiry::holder_gone : rules::Expiry::holder_present);
  if (Status saved = save(transaction); !saved) return unavailable(saved.error());
  return reply;
}

Reply FileBackend::execute(Transaction& transaction, const Release& request) {
  const Reply reply = rules::decide(transaction.stored.record, request, transaction.now,
                                    transaction.not_after, rules::Waiting::unordered);
  if (std::holds_alternative<TooLate>(reply)) return reply;
  const Status saved = save(transaction);
  // Also when the record could not be written: the run has ended, and its background processes must
  // not hold the lock.
  unlock(find(request.lock, request.claim));
  if (!saved) return unavailable(saved.error());
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
