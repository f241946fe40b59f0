// SPDX-License-Identifier: Apache-2.0
// ProcessTree: the command (a main process, and at times a background process), and what kills it
// when its wrapper dies or is stopped. The guardian is its contract, not its code.
#pragma once

#include "model/rules/facts.h"
#include "model/world/random.h"

namespace cronlatch::model {

struct World;
class Client;

class ProcessTree {
 public:
  ProcessTree(World& world, Client& client) : world_(world), client_(client) {}

  void launch();
  void send(int signo);
  void wrapper_died();
  // The wrapper has moved the time at which the guardian kills the tree. kNever: it does not.
  void move_kill_time(Us at);
  bool is_alive() const { return main_alive_ || background_alive_; }

 private:
  void main_ends(int code);
  void background_ends();
  void guardian_wakes();
  void kill(Us longest);

  World& world_;
  Client& client_;
  bool main_alive_ = false, background_alive_ = false;
  bool exits_on_term_ = true, clears_parent_death_signal_ = false;
  Us kill_time_ = kNever;
  Us wakes_at_ = kNever;
};

}  // namespace cronlatch::model
