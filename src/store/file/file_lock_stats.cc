// SPDX-License-Identifier: Apache-2.0
// Statistics of the file store: reads the records and the kernel's table of locks. Takes no lock,
// writes nothing, never waits. The revocation of a held lock is refused: without a lease, only the
// end of a process frees a lock. The revocation of a min-hold is a transaction like any request.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "base/kernel_clock.h"
#include "store/file/directory.h"
#include "store/file/file_backend.h"
#include "store/file/file_errors.h"
#include "store/file/kernel_file.h"
#include "store/file/names.h"
#include "store/rules.h"

namespace cronlatch::file {
namespace {

using rules::Expiry;
using rules::HoldState;

// When the kernel's table gives no answer, the record decides.
Expiry expiry_of(KernelLockState lock_state, HoldState state) {
  switch (lock_state) {
    case KernelLockState::held:
      return Expiry::holder_present;
    case KernelLockState::free:
      return Expiry::holder_gone;
    case KernelLockState::unknown:
      return state == HoldState::held ? Expiry::holder_present : Expiry::holder_gone;
  }
  return Expiry::holder_present;
}

Result<std::vector<std::string>> locks_in(const Fd& directory, const std::string& path) {
  // fdopendir takes ownership of its descriptor, and a duplicate would share its read position.
  const int own = openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = own < 0 ? nullptr : fdopendir(own);
  if (dir == nullptr) return file_error(errno, "list", path);
  std::vector<std::string> locks;
  while (const dirent* entry = readdir(dir))
    if (auto lock = lock_of_record(entry->d_name)) locks.push_back(std::move(*lock));
  closedir(dir);
  std::sort(locks.begin(), locks.end());
  return locks;
}

Result<LockFiles> files_of(const Fd& directory, const std::string& path, const std::string& lock) {
  Result<std::string> base = file_base(lock);
  if (!base) return base.error();
  return LockFiles{directory.get(), path, lock, std::move(base).value()};
}

}  // namespace

LockView FileBackend::view_of(const LockFiles& files, const Stored& stored,
                              const HolderTable& holders) const {
  const HoldState state = stored.record.state;
  const Holder holder =
      find_holder(holders, files, state == HoldState::held ? stored.pid_namespace : 0);
  LockView view =
      rules::view(files.lock, stored.record, clock_(), expiry_of(holder.lock_state, state));
  if (holder.lock_state == KernelLockState::held && state != HoldState::held) {
    // Taken without a record, by flock(1) or by a background process of a run: the last grant does
    // not describe it.
    view.state = LockState::held;
    view.identity = {};
  }
  if (view.state == LockState::held)
    view.pid = holder.lock_state == KernelLockState::unknown ? stored.pid : holder.pid;
  return view;
}

Result<std::vector<LockView>> FileBackend::list(TimePoint, std::size_t most) {
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::no_value);
  if (!directory) return directory.error();
  std::vector<LockView> views;
  if (!*directory) return views;
  const Result<std::vector<std::string>> locks = locks_in(**directory, directory_);
  if (!locks) return locks.error();
  const HolderTable holders;
  for (const std::string& lock : *locks) {
    if (views.size() >= most) break;
    const Result<LockFiles> files = files_of(**directory, directory_, lock);
    if (!files) return files.error();
    const Result<Stored> stored = read_record(*files);
    if (!stored && stored.error().code != Code::config) return stored.error();
    // One damaged record must not hide the others.
    views.push_back(stored ? view_of(*files, *stored, holders)
                           : LockView::of_damaged(lock, clock_()));
  }
  return views;
}

Result<LockView> FileBackend::show(const std::string& lock, TimePoint) {
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::no_value);
  if (!directory) return directory.error();
  if (!*directory) return rules::view(lock, {}, clock_(), Expiry::holder_gone);
  const Result<LockFiles> files = files_of(**directory, directory_, lock);
  if (!files) return files.error();
  const Result<Stored> stored = read_record(*files);
  if (!stored) return stored.error();
  return view_of(*files, *stored, HolderTable());
}

Result<std::optional<Revoked>> FileBackend::try_end_min_hold(const std::string& lock) {
  Result<std::optional<Transaction>> begun = begin(lock);
  if (!begun) return begun.error();
  if (!*begun) return std::optional<Revoked>{};
  Transaction& transaction = **begun;
  const auto taken = try_take_kernel_lock(transaction.files);
  if (!taken) return taken.error();
  if (!*taken) return std::optional<Revoked>{};
  const Revoked revoked =
      rules::revoke(transaction.stored.record, transaction.now, Expiry::holder_gone);
  if (const Status saved = save(transaction); !saved) return saved.error();
  return std::optional(revoked);
}

Result<Revoked> FileBackend::revoke(const std::string& lock, TimePoint give_up) {
  Result<LockView> view = show(lock, give_up);
  while (view && (view->state == LockState::cooling || view->state == LockState::expired)) {
    const Result<std::optional<Revoked>> ended = try_end_min_hold(lock);
    if (!ended) return ended.error();
    if (*ended) return **ended;
    if (boot_now() >= give_up)
      return Error{Code::unreachable,
                   "the record of lock " + lock + " in " + directory_ +
                       " was locked by other processes until the deadline",
                   "check whether one of them is stopped (SIGSTOP)"};
    poll(nullptr, 0, 1);
    view = show(lock, give_up);
  }
  if (!view) return view.error();
  if (view->state != LockState::held) return Revoked{false, view->identity.holder, view->fence};
  const std::string identity =
      view->identity.holder.empty() ? "" : " (" + view->identity.holder + ")";
  const std::string by = view->pid == 0 ? "a process that is not visible from this PID namespace"
                                        : "process " + std::to_string(view->pid);
  return Error{
      Code::usage,
      "lock " + lock + " is held by " + by + identity + "; a lock in a file cannot be revoked",
      view->pid == 0 ? "stop that process" : "stop it: kill " + std::to_string(view->pid)};
}

}  // namespace cronlatch::file
