// SPDX-License-Identifier: Apache-2.0
// Looking at the file store: records as they are and the kernel's table of locks. Takes no lock,
// writes nothing, waits for nothing. A revocation of a held lock is refused, because no lease runs
// out here: only the end of a process frees a lock. One of a min-hold is a turn like any request.
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
#include "store/file/names.h"
#include "store/rules.h"

namespace cronlatch::file {
namespace {

using rules::Seat;
using rules::Tenure;

// Without a word from the kernel the record is believed.
Tenure tenure_of(Holding holding, Seat seat) {
  switch (holding) {
    case Holding::held:
      return Tenure::occupied;
    case Holding::free:
      return Tenure::vacant;
    case Holding::unknown:
      return seat == Seat::held ? Tenure::occupied : Tenure::vacant;
  }
  return Tenure::occupied;
}

Result<std::vector<std::string>> locks_in(const Fd& directory, const std::string& path) {
  // fdopendir owns its descriptor, and the place of a shared one would be shared, too.
  const int own = openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = own < 0 ? nullptr : fdopendir(own);
  if (dir == nullptr) return trouble(errno, "list", path);
  std::vector<std::string> locks;
  while (const dirent* entry = readdir(dir))
    if (auto lock = lock_of_record(entry->d_name)) locks.push_back(std::move(*lock));
  closedir(dir);
  std::sort(locks.begin(), locks.end());
  return locks;
}

Result<Place> place_of(const Fd& directory, const std::string& path, const std::string& lock) {
  Result<std::string> base = file_base(lock);
  if (!base) return base.error();
  return Place{directory.get(), path, lock, std::move(base).value()};
}

}  // namespace

LockView FileBackend::look(const Place& place, const Stored& stored, const Holders& holders) const {
  const Seat seat = stored.record.seat;
  const Holder holder = holders.of(place.directory, with_suffix(place.base, kLockSuffix),
                                   seat == Seat::held ? stored.pid_namespace : 0);
  LockView view = rules::view(place.lock, stored.record, clock_(), tenure_of(holder.holding, seat));
  if (holder.holding == Holding::held && seat != Seat::held) {
    // Taken without a record (flock(1), or what a run left behind): the last grant says nothing
    // about it.
    view.state = LockState::held;
    view.identity = {};
  }
  if (view.state == LockState::held)
    view.pid = holder.holding == Holding::unknown ? stored.pid : holder.pid;
  return view;
}

Result<std::vector<LockView>> FileBackend::list(TimePoint, std::size_t most) {
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::nothing);
  if (!directory) return directory.error();
  std::vector<LockView> views;
  if (!*directory) return views;
  const Result<std::vector<std::string>> locks = locks_in(**directory, directory_);
  if (!locks) return locks.error();
  const Holders holders;
  for (const std::string& lock : *locks) {
    if (views.size() >= most) break;
    const Result<Place> place = place_of(**directory, directory_, lock);
    if (!place) return place.error();
    const Result<Stored> stored = read_record(*place);
    if (!stored && stored.error().code != Code::config) return stored.error();
    // One record that somebody has spoilt must not hide the others.
    views.push_back(stored ? look(*place, *stored, holders) : LockView::of_damaged(lock, clock_()));
  }
  return views;
}

Result<LockView> FileBackend::show(const std::string& lock, TimePoint) {
  const Result<std::optional<Fd>> directory = open_directory(directory_, IfMissing::nothing);
  if (!directory) return directory.error();
  if (!*directory) return rules::view(lock, {}, clock_(), Tenure::vacant);
  const Result<Place> place = place_of(**directory, directory_, lock);
  if (!place) return place.error();
  const Result<Stored> stored = read_record(*place);
  if (!stored) return stored.error();
  return look(*place, *stored, Holders());
}

Result<std::optional<Revoked>> FileBackend::try_to_open(const std::string& lock) {
  Result<std::optional<Turn>> begun = begin_turn(lock);
  if (!begun) return begun.error();
  if (!*begun) return std::optional<Revoked>{};
  Turn& turn = **begun;
  const auto taken =
      KernelLock::try_take(turn.place.directory, with_suffix(turn.place.base, kLockSuffix),
                           turn.place.shown(kLockSuffix));
  if (!taken) return taken.error();
  if (!*taken) return std::optional<Revoked>{};
  const Revoked told = rules::revoke(turn.stored.record, turn.now, Tenure::vacant);
  if (const Status kept = keep(turn); !kept) return kept.error();
  return std::optional(told);
}

Result<Revoked> FileBackend::revoke(const std::string& lock, TimePoint give_up) {
  Result<LockView> view = show(lock, give_up);
  while (view && (view->state == LockState::cooling || view->state == LockState::expired)) {
    const Result<std::optional<Revoked>> opened = try_to_open(lock);
    if (!opened) return opened.error();
    if (*opened) return **opened;
    if (boot_now() >= give_up)
      return Error{
          Code::unreachable,
          "the record of lock " + lock + " in " + directory_ + " was kept busy by other processes",
          "see whether one of them is stopped"};
    poll(nullptr, 0, 1);
    view = show(lock, give_up);
  }
  if (!view) return view.error();
  if (view->state != LockState::held) return Revoked{false, view->identity.holder, view->fence};
  const std::string who = view->identity.holder.empty() ? "" : " (" + view->identity.holder + ")";
  const std::string by = view->pid == 0 ? "a process that cannot be seen from here"
                                        : "process " + std::to_string(view->pid);
  return Error{Code::usage,
               "lock " + lock + " is held by " + by + who + "; a lock in a file cannot be revoked",
               view->pid == 0 ? "end that process" : "end it: kill " + std::to_string(view->pid)};
}

}  // namespace cronlatch::file
