// SPDX-License-Identifier: Apache-2.0
// Client: one Run on its own host, with a clock, a connection and a command. It is the loop of the
// wrapper: the tick that is due, then the event, then the returned actions.
#pragma once

#include <deque>

#include "model/rules/facts.h"
#include "model/world/connection.h"
#include "model/world/host_clock.h"
#include "model/world/process_tree.h"
#include "model/world/tested_run.h"

namespace cronlatch::model {

struct World;

class Client {
 public:
  Client(World& world, const RunSpec& spec, int id, HostClock host_clock, Cover cover);
  Client(const Client&) = delete;
  void begin();

  // Events wait while the wrapper is stopped.
  void handle(const Event& event);
  void signal(int signo);
  void stop_for(Us duration);
  void crash();
  Connection& connection() { return connection_; }

  RunFacts facts;
  const HostClock clock;

 private:
  void pass(const Event& event);
  void note(const Event& event);  // as facts
  void note_renewal();
  void execute(const Event& event, const std::vector<Action>& actions);
  void launch(const Launch& action);
  void send_signal(int signo, bool forwarded);
  void finish();
  void resume();
  void plan_wake_up();

  World& world_;
  const RunSpec spec_;
  TestedRun run_;
  Connection connection_;
  ProcessTree tree_;
  std::deque<Event> while_stopped_;
  bool released_ = false;
  std::uint64_t wake_up_ = 0;
};

}  // namespace cronlatch::model
