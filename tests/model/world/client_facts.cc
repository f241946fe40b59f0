// SPDX-License-Identifier: Apache-2.0
// Events of a client as facts for the rules, before the Run handles them.
#include <csignal>

#include "model/rules/lease_times.h"
#include "model/world/client.h"
#include "model/world/world.h"

namespace cronlatch::model {

void Client::note_renewal() {
  // A renewal that the wrapper reads after D comes too late.
  if (facts.launched == kNever || world_.now() < dead_by(facts))
    facts.confirmed_sent = connection_.sent_at();
}

void Client::note(const Event& event) {
  const Us now = world_.now();
  if (const Busy* busy = std::get_if<Busy>(&event)) {
    facts.last_busy = now;
    facts.last_busy_reason = busy->reason;
    facts.group_granted = facts.group_granted || busy->group_granted;
  }
  if (const Unavailable* failure = std::get_if<Unavailable>(&event);
      failure != nullptr && !failure->transient && !released_) {
    facts.refused = now;
    facts.refused_by_tls = failure->error.code == Code::tls;
  }
  const bool has_left = facts.leftovers == Leftovers::leave && facts.exit_received != kNever;
  if (const NotHolder* lost = std::get_if<NotHolder>(&event);
      lost != nullptr && !released_ && !has_left && facts.launched != kNever &&
      facts.tree_end_received == kNever && facts.not_holder == kNever) {
    facts.not_holder = now;
    facts.lost_reason = lost->reason;
  }
  std::visit(
      [this](const auto& e) {
        if constexpr (std::is_constructible_v<Reply, decltype(e)>)
          world_.fact(&Rule::received, facts, Reply(e));
      },
      event);
  if (std::holds_alternative<Granted>(event) || std::holds_alternative<Renewed>(event))
    note_renewal();
  if (std::holds_alternative<ChildStarted>(event)) facts.started = now;
  const ChildExited* exited = std::get_if<ChildExited>(&event);
  if (exited != nullptr && !facts.ran_skip_command) {
    facts.exit_received = now;
    facts.exit_status = exited->code;
    if (exited->tree_empty) facts.tree_end_received = now;
    world_.fact(&Rule::exit_handled, facts);
  }
  if (std::holds_alternative<TreeEmpty>(event) || std::holds_alternative<CannotStart>(event)) {
    facts.tree_end_received = now;
    world_.fact(&Rule::exit_handled, facts);
  }
  if (const SignalArrived* signal = std::get_if<SignalArrived>(&event);
      signal != nullptr && signal->signo == SIGTERM) {
    if (facts.launched == kNever && !facts.ran_skip_command && !released_) {
      world_.seen.add(Case::canceled);
      facts.canceled = std::min(facts.canceled, now);
    } else {
      facts.terminated = std::min(facts.terminated, now);
      ++facts.terminations;
    }
  }
}

}  // namespace cronlatch::model
