// SPDX-License-Identifier: Apache-2.0
#include "model/world/tested_run.h"

#include <csignal>

namespace cronlatch::model {
namespace {

constexpr int kExitSkipped = 0;

bool is_signal(const Action& action, int signo) {
  const SendSignal* signal = std::get_if<SendSignal>(&action);
  return signal != nullptr && signal->signo == signo;
}

}  // namespace

TestedRun::TestedRun(const RunSpec& spec, Defect defect)
    : run_(spec), spec_(spec), defect_(defect) {}

std::vector<Action> TestedRun::on(Event event, TimePoint now) {
  if (defect_ == Defect::none) return run_.on(event, now);
  if (finish_at_) {
    if (now < *finish_at_) return {};
    finish_at_.reset();
    return {Finish{}};
  }
  if (const auto code = forced_end(event, now)) {
    forced_code_ = code;
    return {Finish{}};
  }
  alter(event);
  const Phase phase = run_.phase();
  std::vector<Action> actions = run_.on(event, now);
  note(event, now, actions);
  alter(event, phase, actions);
  if (defect_ == Defect::second_window && run_.outcome() && !held_back_ && exit_code() == 69) {
    held_back_ = true;
    finish_at_ = now + spec_.connect_timeout;
    std::erase_if(actions, [](const Action& a) { return std::holds_alternative<Finish>(a); });
  }
  return actions;
}

std::optional<TimePoint> TestedRun::wake_at() const {
  return finish_at_ ? finish_at_ : run_.wake_at();
}

int TestedRun::exit_code() const {
  if (forced_code_) return *forced_code_;
  const Outcome& outcome = *run_.outcome();
  if (defect_ == Defect::lost_exits_zero && outcome.kind == Kind::lost && outcome.child_code == 0)
    return 0;
  if (defect_ == Defect::skips_after_wait && outcome.reason == Reason::wait_timeout &&
      spec_.on_busy == OnBusy::skip)
    return 0;
  return cronlatch::exit_code(outcome, kExitSkipped);
}

// The defects that end the run where the real one continues.
std::optional<int> TestedRun::forced_end(const Event& event, TimePoint now) const {
  const Unavailable* failure = std::get_if<Unavailable>(&event);
  if (failure == nullptr) return std::nullopt;
  const Phase phase = run_.phase();
  if (defect_ == Defect::window_from_begin && phase == Phase::acquiring && was_busy_ &&
      spec_.on_store_down == OnStoreDown::fail && now > began_ + spec_.connect_timeout)
    return 69;
  if (defect_ == Defect::tls_ends_waiting && phase == Phase::acquiring &&
      failure->error.code == Code::tls)
    return 77;
  if (defect_ == Defect::mark_given_up && phase == Phase::releasing && mark_sent_ &&
      now > *mark_sent_ + Seconds(5))
    return 0;
  return std::nullopt;
}

void TestedRun::alter(Event& event) {
  if (defect_ == Defect::ignores_loss && std::holds_alternative<NotHolder>(event) &&
      (run_.phase() == Phase::running || run_.phase() == Phase::lingering))
    event = Unavailable{{Code::unreachable, "ignored"}, true, false};
  if (ChildExited* exited = std::get_if<ChildExited>(&event);
      exited != nullptr && defect_ == Defect::ignores_leftovers)
    exited->tree_empty = true;
}

void TestedRun::note(const Event& event, TimePoint now, const std::vector<Action>& actions) {
  if (std::holds_alternative<Begin>(event)) began_ = now;
  was_busy_ = was_busy_ || std::holds_alternative<Busy>(event);
  for (const Action& action : actions)
    if (const StoreRequest* sent = std::get_if<StoreRequest>(&action); sent && !mark_sent_)
      if (const Release* release = std::get_if<Release>(&sent->request);
          release != nullptr && release->mark_done)
        mark_sent_ = now;
}

void TestedRun::alter(const Event& event, Phase phase, std::vector<Action>& actions) {
  if (defect_ == Defect::swallows_term && phase == Phase::lingering &&
      std::holds_alternative<SignalArrived>(event))
    std::erase_if(actions, [](const Action& a) { return is_signal(a, SIGTERM); });
  if (defect_ == Defect::max_run_never_kills && spec_.on_lost == OnLost::term)
    std::erase_if(actions, [](const Action& a) { return is_signal(a, SIGKILL); });
  if (defect_ == Defect::kills_with_term && spec_.on_lost == OnLost::term &&
      std::holds_alternative<NotHolder>(event) && phase == Phase::running)
    actions.push_back(SendSignal{SIGKILL, Target::tree});
  if (defect_ == Defect::no_kill_time)
    std::erase_if(actions, [](const Action& a) { return std::holds_alternative<SetKillTime>(a); });
  if (defect_ != Defect::marks_failure) return;
  for (Action& action : actions)
    if (StoreRequest* sent = std::get_if<StoreRequest>(&action))
      if (Release* release = std::get_if<Release>(&sent->request))
        release->mark_done = !spec_.identity.once.empty();
}

}  // namespace cronlatch::model
