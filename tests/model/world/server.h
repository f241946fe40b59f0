// SPDX-License-Identifier: Apache-2.0
// Server: the store, which executes the real rules of src/store/rules*.cc, with a clock and
// accounts of its own. It can lose data.
#pragma once

#include <optional>
#include <set>

#include "model/rules/facts.h"
#include "model/world/plan.h"
#include "store/memory/memory_store.h"

namespace cronlatch::model {

struct World;
class Client;

class Server {
 public:
  explicit Server(World& world);

  ServerTime time() const;
  // True time by the store's rate, and its forward steps.
  Us elapsed() const;
  void step_clock(Us by);
  // `late`: the sender has given up, with the permitted error of the clocks.
  Reply execute(Client& client, const Request& request, ServerTime not_after, bool late);
  void revoke();

  // ---- data loss (server_loss.cc) ----
  void forget();
  void lag();                 // a replica receives no more, and becomes the primary later
  void roll_back_next(Loss);  // the next request of that kind is lost, and what follows it

  // ---- accounts: the password in the files of the clients, and those that are accepted ----
  struct Passwords {
    int file = 0, oldest = 0, newest = 0;
    bool accepts(int password) const { return password >= oldest && password <= newest; }
  };
  Passwords passwords;
  Us certificate_invalid_until = 0;

 private:
  friend class DefectiveServer;
  const rules::Record& record() const;
  Reply decide(const Request& request, ServerTime not_after);
  void lose(const MemoryServer::Records& records, const char* what);
  bool is_kind(const Request& request, const Reply& reply) const;
  void wake(const std::string& owner);
  void count(const Request& request, const Reply& reply, const LockHead& before);

  World& world_;
  MemoryServer memory_;
  Us stepped_ = 0, stepped_forward_ = 0;
  Loss armed_ = Loss::none;
  std::set<std::pair<std::string, std::uint32_t>> counted_;
};

}  // namespace cronlatch::model
