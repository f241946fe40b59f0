// SPDX-License-Identifier: Apache-2.0
// A store inside one process: a server with a clock of its own, and its clients. For tests and for
// the simulation. One thread; the server outlives its clients. It keeps the same promises as any
// other store (tests/contract).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/lock_stats.h"
#include "core/store.h"
#include "store/rules.h"

namespace cronlatch {

class MemoryServer {
 public:
  using ServerClock = std::function<ServerTime()>;
  explicit MemoryServer(ServerClock clock) : clock_(std::move(clock)) {}

  ServerTime now() const { return clock_(); }
  // Executes one request at the server's present time; `pending` of the reply is left empty. The
  // simulation calls it directly, as late and as often as its network likes.
  Reply execute(const Request& request, ServerTime not_after);
  Revoked revoke(const std::string& lock);
  LockView show(const std::string& lock) const;
  std::vector<LockView> list() const;
  // The store loses everything, as after a restart without persistence.
  void forget() { records_.clear(); }
  // The store goes back to what it kept earlier, as after a failover to a replica that lagged.
  using Records = std::map<std::string, rules::Record>;
  const Records& records() const { return records_; }
  void restore(Records records) { records_ = std::move(records); }
  // A lock's record as it is, for checkers; an unknown lock has the empty one.
  rules::Record record(const std::string& lock) const;

 private:
  ServerClock clock_;
  Records records_;
};

class MemoryStore : public Backend {
 public:
  explicit MemoryStore(MemoryServer& server) : server_(server) {}

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;

 private:
  struct PendingRequest {
    Request request;
    TimePoint at;
    ServerTime not_after;
  };
  MemoryServer& server_;
  std::optional<PendingRequest> pending_;
};

}  // namespace cronlatch
