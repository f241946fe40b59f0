// SPDX-License-Identifier: Apache-2.0
// FileBackend: the class behind open_file_store. Requests are in file_store.cc, the decision of
// each verb in file_verbs.cc, the choice of a slot in slot_choice.cc, statistics and revocation in
// file_lock_stats.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "core/lock_stats.h"
#include "store/file/file_store.h"
#include "store/file/holders.h"
#include "store/file/kernel_lock.h"
#include "store/file/record_file.h"
#include "store/rules.h"

namespace cronlatch::file {

// The error as a reply: nothing was executed.
Unavailable unavailable(const Error& error);

class FileBackend final : public Backend {
 public:
  // The slot that an acquire is decided for.
  struct Choice {
    unsigned slot = 1;
    rules::Expiry expiry = rules::Expiry::holder_gone;
    std::optional<KernelLock> taken{};  // its kernel lock, unless this process has it already
    bool renumbers = false;             // no slot is in use: a grant sets their number
  };

  FileBackend(std::string directory, WallClock clock)
      : directory_(std::move(directory)), clock_(std::move(clock)) {}
  // Unlocks what a run that ended could not release: its background processes must not hold it.
  ~FileBackend() override;

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;
  int inherited_fd() const override { return held_.empty() ? -1 : held_.back().kernel_lock.fd(); }
  bool shared() const override { return false; }

  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;

 private:
  struct Pending {
    Request request;
    TimePoint sent_at{};
    TimePoint try_at{};
    int tries = 0;
  };
  struct HeldLock {
    std::string lock;
    std::string base;
    Claim claim;
    unsigned slot = 1;
    KernelLock kernel_lock;
    bool has_ended = false;  // the last request was its release
  };
  struct SlotsView {
    LockView view;
    std::vector<long> pids;  // of the processes that hold a slot; 0: not visible
  };
  // One attempt at a request: everything that is open while the mutex is held.
  struct Transaction {
    Fd directory;
    LockFiles files;
    KernelLock mutex;
    RecordFile before;  // as read
    Stored stored;
    ServerTime now{};
    ServerTime not_after{};
  };

  std::optional<Reply> attempt(TimePoint now);
  Result<std::optional<Transaction>> begin(const std::string& lock);
  Reply execute(Transaction& transaction, const Acquire& request);
  Reply execute(Transaction& transaction, const Renew& request);
  Reply execute(Transaction& transaction, const Release& request);
  Result<Choice> choose_slot(Transaction& transaction, const Acquire& request);
  static Status save(Transaction& transaction);
  HeldLock* find(const std::string& lock, const Claim& claim);
  void unlock(const HeldLock* held);
  void touch_held(TimePoint now);

  // Ends the min-hold of a lock that only the min-hold keeps closed; no value while other processes
  // use it.
  Result<std::optional<Revoked>> try_end_min_hold(const std::string& lock);
  LockView view_of_slot(const LockFiles& files, const Stored& stored, const HolderTable& holders,
                        unsigned slot) const;
  SlotsView view_of(const LockFiles& files, const Stored& stored, const HolderTable& holders) const;
  Result<SlotsView> read_view(const std::string& lock) const;

  std::string directory_;
  WallClock clock_;
  std::optional<Pending> pending_;
  std::vector<HeldLock> held_;
  TimePoint touch_at_{};  // only while locks are held
};

}  // namespace cronlatch::file
