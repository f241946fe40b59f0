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
#include "store/file/slots.h"
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

// The last grant of a live holder describes the lock, else the last one that was not released.
bool is_shown_before(const LockView& one, const LockView& other) {
  const auto rank = [](const LockView& view) {
    return view.state == LockState::held ? 2 : view.open() ? 1 : 0;
  };
  return rank(one) != rank(other) ? rank(one) > rank(other) : one.fence > other.fence;
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

LockView FileBackend::view_of_slot(const LockFiles& files, const Stored& stored,
                                   const HolderTable& holders, unsigned slot) const {
  const HoldState state = stored.record.state;
  const Holder holder =
      find_holder(holders, files, state == HoldState::held ? stored.pid_namespace : 0, slot);
  LockView view =
      rules::view(files.lock, stored.record, clock_(), expiry_of(holder.lock_state, state));
  if (holder.lock_state == KernelLockState::held && state != HoldState::held) {
    // Taken without a record, by flock(1) or by a background process of a run: the last grant does
    // not describe it.
    view.state = LockState::held;
    view.identity = {};
    view.fence = 0;
    view.attempt = 0;
    view.acquired = {};
    view.expires = {};
  }
  if (view.state == LockState::held)
    view.pid = holder.lock_state == KernelLockState::unknown ? stored.pid : holder.pid;
  return view;
}

FileBackend::SlotsView FileBackend::view_of(const LockFiles& files, const Stored& stored,
                                            const HolderTable& holders) const {
  SlotsView all;
  LockView& shown = all.view;
  Stored open_stored = stored;
  std::vector<GrantView> grants;
  std::vector<ClosedSlot> closed;
  Fence newest = stored.last_fence;
  for (unsigned slot = 1; slot <= stored.slots; ++slot) {
    if (slot != 1 && stored.others.count(slot) == 0) continue;
    const OpenSlot open(open_stored, slot);
    LockView view = view_of_slot(files, open_stored, holders, slot);
    if (view.state == LockState::held) all.pids.push_back(view.pid);
    if (view.state != LockState::held)
      closed.insert(closed.end(), view.closed_slots.begin(), view.closed_slots.end());
    if (view.open())
      grants.push_back(
          {view.state, view.identity, view.fence, view.attempt, view.acquired, view.expires});
    newest = std::max(newest, view.fence);
    if (slot == 1 || is_shown_before(view, shown)) shown = std::move(view);
  }
  shown.slots = stored.slots;
  shown.closed_slots = std::move(closed);
  if (stored.slots > 1) shown.grants = std::move(grants);
  rules::sort_slots(shown);
  if (stored.slots == 1) return all;
  shown.fence = newest;
  if (!shown.open())
    shown.state = shown.closed_until() == ServerTime{} ? LockState::free : LockState::cooling;
  return all;
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
    views.push_back(stored ? view_of(*files, *stored, holders).view
                           : LockView::of_damaged(lock, clock_()));
  }
  return views;
}

Result<FileBackend::SlotsView> FileBackend::read_view(const std::string& lock) const {
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::no_value);
  if (!directory) return directory.error();
  if (!*directory) return SlotsView{rules::view(lock, {}, clock_(), Expiry::holder_gone), {}};
  const Result<LockFiles> files = files_of(**directory, directory_, lock);
  if (!files) return files.error();
  const Result<Stored> stored = read_record(*files);
  if (!stored) return stored.error();
  return view_of(*files, *stored, HolderTable());
}

Result<LockView> FileBackend::show(const std::string& lock, TimePoint) {
  Result<SlotsView> read = read_view(lock);
  if (!read) return read.error();
  return std::move(read->view);
}

Result<std::optional<Revoked>> FileBackend::try_end_min_hold(const std::string& lock) {
  Result<std::optional<Transaction>> begun = begin(lock);
  if (!begun) return begun.error();
  if (!*begun) return std::optional<Revoked>{};
  Transaction& transaction = **begun;
  Stored& stored = transaction.stored;
  std::vector<KernelLock> all;
  for (unsigned slot = 1; slot <= stored.slots; ++slot) {
    auto taken = try_take_kernel_lock(transaction.files, slot);
    if (!taken) return taken.error();
    if (!*taken) return std::optional<Revoked>{};
    all.push_back(std::move(**taken));
  }
  Revoked revoked;
  for (unsigned slot = stored.slots; slot >= 1; --slot) {
    const OpenSlot open(stored, slot);
    const Revoked of_slot = rules::revoke(stored.record, transaction.now, Expiry::holder_gone);
    if (slot == 1 ? !revoked.was_cooling : of_slot.was_cooling) revoked = of_slot;
  }
  if (stored.slots > 1 && is_unused(stored)) set_slots(stored, 1);
  if (const Status saved = save(transaction); !saved) return saved.error();
  return std::optional(revoked);
}

namespace {

// Only the visible processes.
std::string text_of(const std::vector<long>& pids, std::string_view separator) {
  std::string text;
  for (const long pid : pids)
    if (pid != 0) text += (text.empty() ? "" : std::string(separator)) + std::to_string(pid);
  return text;
}

}  // namespace

Result<Revoked> FileBackend::revoke(const std::string& lock, TimePoint give_up) {
  Result<SlotsView> read = read_view(lock);
  // Also while other slots are free: the min-hold still excludes runs with another number of slots.
  const auto ends_by_force = [&] {
    return read && read->view.state != LockState::held &&
           (!read->view.closed_slots.empty() || read->view.state == LockState::expired);
  };
  while (ends_by_force()) {
    const Result<std::optional<Revoked>> ended = try_end_min_hold(lock);
    if (!ended) return ended.error();
    if (*ended) return **ended;
    if (boot_now() >= give_up)
      return Error{Code::unreachable,
                   "the record of lock " + lock + " in " + directory_ +
                       " was locked by other processes until the deadline",
                   "check whether one of them is stopped (SIGSTOP)"};
    poll(nullptr, 0, 1);
    read = read_view(lock);
  }
  if (!read) return read.error();
  const LockView& view = read->view;
  if (view.state != LockState::held) return Revoked{false, view.identity.holder, view.fence};
  const bool is_one = read->pids.size() == 1;
  const std::string identity =
      view.identity.holder.empty() || !is_one ? "" : " (" + view.identity.holder + ")";
  const std::string pids = text_of(read->pids, ", ");
  const std::string by = pids.empty() ? "a process that is not visible from this PID namespace"
                                      : (is_one ? "process " : "the processes ") + pids;
  return Error{
      Code::usage,
      "lock " + lock + " is held by " + by + identity + "; a lock in a file cannot be revoked",
      pids.empty() ? "stop that process"
                   : (is_one ? "stop it: kill " : "stop them: kill ") + text_of(read->pids, " ")};
}

}  // namespace cronlatch::file
