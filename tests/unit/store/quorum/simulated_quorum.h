// SPDX-License-Identifier: Apache-2.0
// Servers of a quorum and connections to them under virtual time: messages are delayed, lost or
// executed late, and servers lose their data. The rules of a lock are the real ones
// (store/rules.h). A seed determines everything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/memory/memory_store.h"

namespace cronlatch::quorum::testing {

// Faults that a change of the product could introduce; the checker must find each of them.
enum class Defect {
  none,
  fence_is_not_raised,      // a confirmation leaves the fence of the server as it is
  counts_restarted_server,  // a server grants a lock directly after it has lost its data
  confirms_lost_grant,      // a server confirms a grant that it has lost
};

class SimulatedWorld {
 public:
  SimulatedWorld(unsigned seed, std::size_t servers, Defect defect);

  struct Server {
    std::unique_ptr<MemoryServer> memory;
    Micros offset{};                     // of its clock
    TimePoint started{};                 // the last time its data was lost
    std::optional<Claim> unconfirmed{};  // the last grant, until its confirmation or release
  };

  TimePoint now() const { return now_; }
  ServerTime server_time(std::size_t server, TimePoint t) const;
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  void at(TimePoint t, std::function<void()> event) { events_.emplace(t, std::move(event)); }
  // Executes the next event; false when there is none before `end`.
  bool run_next(TimePoint end);
  Reply execute(std::size_t server, const Request& request, TimePoint give_up);
  void lose_data(std::size_t server);
  std::size_t servers() const { return servers_.size(); }

 private:
  // The server crashes before it has written a grant to its disk; older data is on the disk.
  void lose_grant_sometimes(std::size_t server, const Claim& claim, MemoryServer::Records before);

  std::mt19937 random_;
  Defect defect_;
  TimePoint now_{Seconds(1'000'000)};
  std::vector<Server> servers_;
  std::multimap<TimePoint, std::function<void()>> events_;
};

// A connection of one client to one server.
class SimulatedConnection : public Backend {
 public:
  SimulatedConnection(SimulatedWorld& world, std::size_t server) : world_(world), server_(server) {}

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override { return unused(); }
  Result<LockView> show(const std::string&, TimePoint) override { return unused(); }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return unused(); }

 private:
  static Error unused() { return {Code::bug, "not simulated"}; }

  // What the events of a request share with the connection, which can end before them.
  struct Exchange {
    std::optional<Reply> reply;
  };
  SimulatedWorld& world_;
  std::size_t server_;
  std::shared_ptr<Exchange> exchange_;
  TimePoint give_up_{};
};

}  // namespace cronlatch::quorum::testing
