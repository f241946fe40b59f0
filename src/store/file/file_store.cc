// SPDX-License-Identifier: Apache-2.0
// Requests to the file store. Each is one transaction: take the mutex, try the kernel lock, read
// the record, decide (store/rules.h), write the record. When the mutex is taken, the transaction is
// retried at a deadline; no call blocks.
#include "store/file/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/fd.h"
#include "base/kernel_clock.h"
#include "store/file/directory.h"
#include "store/file/file_backend.h"
#include "store/file/names.h"
#include "store/rules.h"

namespace cronlatch {

ServerTime host_wall_clock() { return {wall_now().us}; }

Result<std::unique_ptr<Backend>> open_file_store(const std::string& directory, WallClock clock) {
  Result<std::string> path = file::check_directory_path(directory);
  if (!path) return path.error();
  return std::unique_ptr<Backend>(
      std::make_unique<file::FileBackend>(std::move(path).value(), std::move(clock)));
}

namespace file {
namespace {

// Programs that clean temporary directories delete files that are days old.
constexpr auto kTouchEvery = std::chrono::hours(1);

// A transaction takes about ten microseconds: the first retries are fast, later ones slower.
Micros retry_delay(int tries) { return Micros(50) * (1 << std::min(tries, 6)); }

const std::string& lock_of(const Request& request) {
  return std::visit([](const auto& r) -> const std::string& { return r.lock; }, request);
}
TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& r) { return r.give_up; }, request);
}

}  // namespace

FileBackend::~FileBackend() {
  for (HeldLock& held : held_)
    if (held.has_ended) held.kernel_lock.unlock();
}

// A release that fails keeps the kernel lock: it is repeated until the done mark is recorded, and
// no other run may be granted the lock before.
void FileBackend::send(const Request& request, TimePoint now) {
  const Claim& claim = std::visit([](const auto& r) -> const Claim& { return r.claim; }, request);
  if (HeldLock* held = find(lock_of(request), claim))
    held->has_ended = std::holds_alternative<Release>(request);
  pending_ = {request, now, now, 0};
}

void FileBackend::watch(PollSet& set) const {
  if (pending_) set.wake_by(pending_->try_at);
  if (!held_.empty()) set.wake_by(touch_at_);
}

std::optional<Reply> FileBackend::step(const PollSet&, TimePoint now) {
  if (!held_.empty() && now >= touch_at_) touch_held(now);
  if (!pending_ || now < pending_->try_at) return std::nullopt;
  std::optional<Reply> reply = attempt(now);
  if (!reply) {
    pending_->try_at = now + retry_delay(pending_->tries++);
    return std::nullopt;
  }
  if (auto* granted = std::get_if<Granted>(&*reply)) {
    granted->sent_at = pending_->sent_at;
    touch_at_ = now + kTouchEvery;
  }
  if (auto* renewed = std::get_if<Renewed>(&*reply)) renewed->sent_at = pending_->sent_at;
  pending_.reset();
  return reply;
}

// No value: another process has the mutex.
std::optional<Reply> FileBackend::attempt(TimePoint now) {
  const Request& request = pending_->request;
  const Micros left = give_up_of(request) - now;
  if (left < Micros(0)) {
    if (pending_->tries == 0) return TooLate{};
    return unavailable({Code::unreachable,
                        "the record of lock " + lock_of(request) + " in " + directory_ +
                            " was locked by other processes until the deadline",
                        "check whether one of them is stopped (SIGSTOP)"});
  }
  Result<std::optional<Transaction>> begun = begin(lock_of(request));
  if (!begun) return unavailable(begun.error());
  if (!*begun) return std::nullopt;
  Transaction& transaction = **begun;
  transaction.not_after = transaction.now + left;
  return std::visit([&](const auto& r) { return execute(transaction, r); }, request);
}

Result<std::optional<FileBackend::Transaction>> FileBackend::begin(const std::string& lock) {
  Result<std::string> base = file_base(lock);
  if (!base) return base.error();
  // Opened again each time: a waiter must use the same directory as other runs, also after another
  // process removed and created it again.
  Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::create);
  if (!directory) return directory.error();
  if (!*directory)
    return Error{Code::unreachable,
                 "directory " + directory_ + " was removed while it was being opened"};
  LockFiles files{(*directory)->get(), directory_, lock, std::move(base).value()};
  Result<std::optional<KernelLock>> mutex = KernelLock::try_take(
      files.directory, with_suffix(files.base, kMutexSuffix), files.path_of(kMutexSuffix));
  if (!mutex) return mutex.error();
  if (!*mutex) return std::optional<Transaction>{};
  Result<RecordFile> record = open_record(files);
  if (!record) return record.error();
  Result<Stored> stored = decode_record(files, record->text);
  if (!stored) return stored.error();
  return std::optional(Transaction{std::move(**directory),
                                   std::move(files),
                                   std::move(**mutex),
                                   std::move(record).value(),
                                   std::move(stored).value(),
                                   clock_(),
                                   {}});
}

void FileBackend::touch_held(TimePoint now) {
  touch_at_ = now + kTouchEvery;
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::no_value);
  for (const HeldLock& held : held_) {
    held.kernel_lock.touch();
    if (directory && *directory)
      utimensat((*directory)->get(), with_suffix(held.base, kRecordSuffix).c_str(), nullptr,
                AT_SYMLINK_NOFOLLOW);
  }
}

}  // namespace file
}  // namespace cronlatch
