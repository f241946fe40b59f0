// SPDX-License-Identifier: Apache-2.0
// Requests to the file store. Each is one turn: mutex, kernel lock, record, decision
// (store/rules.h), record, done. Only the mutex can be waited for, and it is tried again by
// deadline, never slept on.
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

// Cleaners of temporary files think in days.
constexpr auto kTouchEvery = std::chrono::hours(1);

// A turn takes some ten microseconds: look again soon, then ever more rarely.
Micros pause_after(int tries) { return Micros(50) * (1 << std::min(tries, 6)); }

Unavailable down(const Error& error) {
  return Unavailable{error, error.code == Code::unreachable, true};
}

const std::string& lock_of(const Request& request) {
  return std::visit([](const auto& r) -> const std::string& { return r.lock; }, request);
}
TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& r) { return r.give_up; }, request);
}

// Answers are remembered for those who did not hear them. Here everybody hears, but for a full disk
// now and then; a job that runs every second must not drag hundreds of them along.
constexpr std::size_t kAnswersKept = 8;

void forget_all_but_newest(std::map<std::string, std::int64_t>& seen) {
  while (seen.size() > kAnswersKept)
    seen.erase(std::min_element(seen.begin(), seen.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; }));
}

}  // namespace

void FileBackend::send(const Request& request, TimePoint now) { pending_ = {request, now, now, 0}; }

void FileBackend::watch(PollSet& set) const {
  if (pending_) set.wake_by(pending_->try_at);
  if (!held_.empty()) set.wake_by(touch_at_);
}

std::optional<Reply> FileBackend::step(const PollSet&, TimePoint now) {
  if (!held_.empty() && now >= touch_at_) touch_held(now);
  if (!pending_ || now < pending_->try_at) return std::nullopt;
  std::optional<Reply> reply = attempt(now);
  if (!reply) {
    pending_->try_at = now + pause_after(pending_->tries++);
    return std::nullopt;
  }
  if (auto* granted = std::get_if<Granted>(&*reply)) {
    granted->sent_at = pending_->sent_at;
    touch_at_ = now + kTouchEvery;
  }
  if (auto* kept = std::get_if<Renewed>(&*reply)) kept->sent_at = pending_->sent_at;
  pending_.reset();
  return reply;
}

// No reply: the mutex is taken.
std::optional<Reply> FileBackend::attempt(TimePoint now) {
  const Request& request = pending_->request;
  const Micros left = give_up_of(request) - now;
  if (left < Micros(0)) {
    if (pending_->tries == 0) return TooLate{};
    return down({Code::unreachable,
                 "the record of lock " + lock_of(request) + " in " + directory_ +
                     " was kept busy by other processes",
                 "see whether one of them is stopped"});
  }
  if (std::optional<Unavailable> refused = rules::refuse_slots(request)) return *refused;
  Result<std::optional<Turn>> begun = begin_turn(lock_of(request));
  if (!begun) return down(begun.error());
  if (!*begun) return std::nullopt;
  Turn& turn = **begun;
  turn.not_after = turn.now + left;
  return std::visit([&](const auto& r) { return settle(turn, r); }, request);
}

Result<std::optional<FileBackend::Turn>> FileBackend::begin_turn(const std::string& lock) {
  Result<std::string> base = file_base(lock);
  if (!base) return base.error();
  // Opened anew each time: a waiter must meet the others also after somebody removed and re-made
  // the directory.
  Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::make);
  if (!directory) return directory.error();
  if (!*directory)
    return Error{Code::unreachable, "directory " + directory_ + " was removed while it was opened"};
  Place place{(*directory)->get(), directory_, lock, std::move(base).value()};
  Result<std::optional<KernelLock>> mutex = KernelLock::try_take(
      place.directory, with_suffix(place.base, kMutexSuffix), place.shown(kMutexSuffix));
  if (!mutex) return mutex.error();
  if (!*mutex) return std::optional<Turn>{};
  Result<RecordFile> record = open_record(place);
  if (!record) return record.error();
  Result<Stored> stored = understand(place, record->text);
  if (!stored) return stored.error();
  return std::optional(Turn{std::move(**directory),
                            std::move(place),
                            std::move(**mutex),
                            std::move(record).value(),
                            std::move(stored).value(),
                            clock_(),
                            {}});
}

Reply FileBackend::settle(Turn& turn, const Acquire& request) {
  const bool ours = find(request.lock, request.claim) != nullptr;
  std::optional<KernelLock> taken;
  if (!ours) {
    auto tried =
        KernelLock::try_take(turn.place.directory, with_suffix(turn.place.base, kLockSuffix),
                             turn.place.shown(kLockSuffix));
    if (!tried) return down(tried.error());
    taken = std::move(*tried);
  }
  rules::Record& record = turn.stored.record;
  const bool occupied = !ours && !taken;
  Reply reply = rules::decide(record, request, turn.now, turn.not_after,
                              occupied ? rules::Tenure::occupied : rules::Tenure::vacant);
  // The record knows this claim, but another process has its kernel lock (a copy of us that was
  // forked, say).
  if (std::holds_alternative<Granted>(reply) && occupied)
    return Busy{BusyReason::held, record.identity.holder, record.identity.job, record.fence,
                turn.now - record.acquired};
  if (std::holds_alternative<Granted>(reply) && taken) {
    turn.stored.pid = getpid();
    turn.stored.pid_namespace = own_pid_namespace();
  }
  if (Status kept = keep(turn); !kept) return down(kept.error());  // `taken` is let go
  if (ours && std::holds_alternative<Busy>(reply)) let_go(find(request.lock, request.claim));
  if (std::holds_alternative<Granted>(reply) && taken) {
    taken->touch();  // the file may be as old as the lock
    held_.push_back({request.lock, turn.place.base, request.claim, std::move(*taken)});
  }
  if (auto* busy = std::get_if<Busy>(&reply);
      busy && busy->reason == BusyReason::held && busy->holder.empty()) {
    // Taken without a record: by flock(1), or by what a run left behind.
    const Holder holder =
        Holders().of(turn.place.directory, with_suffix(turn.place.base, kLockSuffix), 0);
    if (holder.pid != 0) busy->holder = "pid " + std::to_string(holder.pid);
  }
  return reply;
}

// There is no lease: the kernel keeps what we hold. Without the kernel lock there is nothing that
// could be kept.
Reply FileBackend::settle(Turn& turn, const Renew& request) {
  const bool ours = find(request.lock, request.claim) != nullptr;
  rules::Record& record = turn.stored.record;
  const bool granted_to_it = record.seat == rules::Seat::held && record.claim == request.claim;
  if (!ours && (record.seat == rules::Seat::none || granted_to_it))
    return NotHolder{LostReason::gone};
  // The process that has the kernel's lock is the holder, though an older record names another.
  const Reply reply = rules::decide(record, request, turn.now, turn.not_after,
                                    ours ? rules::Tenure::vacant : rules::Tenure::occupied);
  if (Status kept = keep(turn); !kept) return down(kept.error());
  return reply;
}

Reply FileBackend::settle(Turn& turn, const Release& request) {
  const Reply reply = rules::decide(turn.stored.record, request, turn.now, turn.not_after);
  if (std::holds_alternative<TooLate>(reply)) return reply;
  const Status kept = keep(turn);
  // Whether or not it could be written down: the run is over, and what it left behind must not hold
  // the lock.
  let_go(find(request.lock, request.claim));
  if (!kept) return down(kept.error());
  return reply;
}

Status FileBackend::keep(Turn& turn) {
  forget_all_but_newest(turn.stored.record.seen);
  const bool never_granted = turn.before.text.empty() && turn.stored == Stored{};
  std::string text = encode(turn.place.lock, turn.stored);
  if (never_granted || text == turn.before.text) return Done{};
  return write_text(turn.place, turn.before, std::move(text));
}

FileBackend::Held* FileBackend::find(const std::string& lock, const Claim& claim) {
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return held.lock == lock && held.claim == claim;
  });
  return at == held_.end() ? nullptr : &*at;
}

void FileBackend::let_go(const Held* held) {
  if (held == nullptr) return;
  const auto at = held_.begin() + (held - held_.data());
  at->kernel_lock.unlock();
  held_.erase(at);
}

void FileBackend::touch_held(TimePoint now) {
  touch_at_ = now + kTouchEvery;
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::nothing);
  for (const Held& held : held_) {
    held.kernel_lock.touch();
    if (directory && *directory)
      utimensat((*directory)->get(), with_suffix(held.base, kRecordSuffix).c_str(), nullptr,
                AT_SYMLINK_NOFOLLOW);
  }
}

}  // namespace file
}  // namespace cronlatch
