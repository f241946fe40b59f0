// SPDX-License-Identifier: Apache-2.0
// A store inside one process: a server with its own clock, and its clients. For tests and for the
// simulation. One thread; the server must outlive its clients. tests/contract tests it like every
// other store.
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
  // Executes one request at the server's time; does not set `sent_at` of the reply. The simulation
  // calls it directly, also late and repeatedly.
  Reply execute(const Request& request, ServerTime not_after);
  Revoked revoke(const std::string& lock);
  LockView show(const std::string& lock) const;
  std::vector<LockView> list() const;
  // Deletes everything, as a restart without persistence does.
  void forget() { records_.clear(); }
  // For an earlier state, as after a failover to a replica that lags behind.
  using Records = std::map<std::string, rules::Record>;
  const Records& records() const { return records_; }
  void restore(Records records) { records_ = std::move(records); }
  // The record of a lock, for checkers; empty for an unknown lock.
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
