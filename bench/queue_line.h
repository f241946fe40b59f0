// SPDX-License-Identifier: Apache-2.0
// QueueLine: clients that wait for one lock with the client code of the wrapper, in one process.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/open.h"

namespace cronlatch::bench {

[[noreturn]] void fail(const std::string& what);

// One client of the lock `bench`. Clients can share a connection.
class Contender {
 public:
  Contender(std::shared_ptr<Backend> store, int number);

  Reply acquire();
  bool is_granted() { return std::holds_alternative<Granted>(acquire()); }
  void release();
  // Returns when `is_listening` does, which the server decides.
  void listen(const std::function<bool()>& is_listening);
  void await_wake();
  TimePoint asked_at() const { return asked_at_; }

 private:
  Reply send(const Request& request);

  std::shared_ptr<Backend> store_;
  std::string owner_;
  std::uint32_t attempt_ = 1;
  TimePoint asked_at_{};
};

class QueueLine {
 public:
  // A holder and `waiters` clients behind it, over at most `connections` connections.
  QueueLine(const StoreSpec& spec, int waiters, std::size_t connections);

  // Before each hand-off: every place stays alive.
  void refresh();
  // Microseconds from the release until the next client has the grant. The client listens, or
  // requests again after `phase`.
  double woken_hand_off(const std::function<bool()>& is_listening);
  double polled_hand_off(Micros phase);
  // After each hand-off: the previous holder waits at the end.
  void rejoin() { waiting_.back()->acquire(); }

 private:
  double finish_hand_off(TimePoint start);
  void take_next_holder();

  std::deque<std::unique_ptr<Contender>> waiting_;
  std::unique_ptr<Contender> holder_;
};

}  // namespace cronlatch::bench
