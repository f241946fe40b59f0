// SPDX-License-Identifier: Apache-2.0
#include "model/world/process_tree.h"

#include <csignal>

#include "model/world/client.h"
#include "model/world/world.h"

namespace cronlatch::model {
namespace {

// A3: with a stop of the wrapper (at most 0.5 s without a guardian), KILL takes effect within
// kappa, 1 s.
constexpr Us kReap = 950 * kMs, kReapAfterStop = 450 * kMs;
constexpr Us kGuardianNotices = 200 * kMs;

}  // namespace

void ProcessTree::launch() {
  Random& random = world_.random;
  main_alive_ = true;
  background_alive_ = random.one_in(4);
  exits_on_term_ = random.percent(60);
  clears_parent_death_signal_ = random.one_in(5);
  client_.facts.tree_alive = true;
  world_.fact(&Rule::tree_started, client_.facts);
  if (random.one_in(40)) {
    client_.facts.cannot_start = true;
    background_alive_ = false;
    main_ends(-1);
    return;
  }
  world_.later(random.between(0, 3 * kMs), [this] { client_.handle(ChildStarted{}); });
  const Us life = random.percent(70) ? random.between(4 * kMs, 10 * kSecond)
                                     : random.between(10 * kSecond, 50 * kSecond);
  const int code = random.one_in(3) ? 1 : 0;
  world_.later(life, [this, code] { main_ends(code); });
  if (background_alive_)
    world_.later(life + random.between(0, 20 * kSecond), [this] { background_ends(); });
}

void ProcessTree::send(int signo) {
  Random& random = world_.random;
  if (signo == SIGTERM && exits_on_term_) {
    world_.later(random.between(0, 2 * kSecond), [this] { main_ends(143); });
    if (background_alive_)
      world_.later(random.between(0, 2 * kSecond), [this] { background_ends(); });
  }
  if (signo == SIGKILL)
    kill(world_.now() < client_.facts.stopped_until + kSecond ? kReapAfterStop : kReap);
}

void ProcessTree::kill(Us longest) {
  world_.later(world_.random.between(0, longest), [this] { main_ends(137); });
  if (background_alive_)
    world_.later(world_.random.between(0, longest), [this] { background_ends(); });
}

void ProcessTree::wrapper_died() {
  if (!is_alive()) return;
  const Cover cover = client_.facts.cover;
  if (cover == Cover::none || world_.defect == Defect::guardian_ignores_death) {
    if (!clears_parent_death_signal_) main_ends(137);
    if (is_alive()) world_.seen.add(Case::outlived);
    return;
  }
  if (world_.defect == Defect::guardian_kills_main_only) return main_ends(137);
  kill(cover == Cover::pid1 ? 0 : kGuardianNotices);
}

void ProcessTree::move_kill_time(Us at) {
  if (client_.facts.cover != Cover::guardian || at == kill_time_) return;
  kill_time_ = at;
  if (at == kNever || wakes_at_ <= at) return;  // a wake-up that is too early sets the next one
  wakes_at_ = at;
  world_.later(at - world_.now(), [this] { guardian_wakes(); });
}

void ProcessTree::guardian_wakes() {
  wakes_at_ = kNever;
  if (!is_alive() || client_.facts.is_over() || kill_time_ == kNever) return;
  if (world_.now() < kill_time_) {
    wakes_at_ = kill_time_;
    return world_.later(kill_time_ - world_.now(), [this] { guardian_wakes(); });
  }
  if (world_.defect == Defect::guardian_ignores_stop) return;
  world_.seen.add(Case::guardian_kill);
  world_.note(client_.facts.id, "guardian kills");
  kill(kReap);
}

void ProcessTree::main_ends(int code) {
  if (!main_alive_) return;
  main_alive_ = false;
  RunFacts& facts = client_.facts;
  facts.main_exit = world_.now();
  if (background_alive_) world_.seen.add(Case::leftovers);
  world_.note(facts.id, "exit", code);
  if (!background_alive_) {
    facts.tree_alive = false;
    facts.tree_end = world_.now();
    world_.fact(&Rule::tree_ended, facts);
  }
  if (code < 0)
    world_.later(kMs, [this] { client_.handle(CannotStart{{Code::exec_denied, "x"}}); });
  else
    client_.handle(ChildExited{code, !background_alive_});
}

void ProcessTree::background_ends() {
  if (!background_alive_) return;
  background_alive_ = false;
  if (main_alive_) return;
  RunFacts& facts = client_.facts;
  facts.tree_alive = false;
  facts.tree_end = world_.now();
  world_.note(facts.id, "background exit");
  world_.fact(&Rule::tree_ended, facts);
  client_.handle(TreeEmpty{});
}

}  // namespace cronlatch::model
