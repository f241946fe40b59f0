// SPDX-License-Identifier: Apache-2.0
// The table of the state machine: a row per phase, a column per event. A new phase or a new event
// does not compile until every pair has a handler here. `none`: the event is ignored.
#include <array>

#include "core/run.h"

namespace cronlatch {

Run::Handler Run::handler_of(Phase phase, const Event& event) {
  using Row = std::array<Handler, std::variant_size_v<Event>>;
  const auto row =
      []<class... H>(H... handlers) requires(sizeof...(H) == std::variant_size_v<Event>) {
    return Row{handlers...};
  };
  constexpr Handler none = nullptr;
  using R = Run;
  // clang-format off
  //                                Begin          Tick          Granted                    Busy                       Renewed           NotHolder           Released          TooLate                    Unavailable                  ChildStarted     CannotStart                 ChildExited                 TreeEmpty           SignalArrived                  TasksCounted          GuardianEnded           Quarantined           Woken
  static const Row idle       = row(&R::on_begin,  none,         none,                      none,                      none,             none,               none,             none,                      none,                        none,            none,                       none,                       none,               &R::on_signal_before_start,    none,                  none,                   none,  none);
  static const Row acquiring  = row(none,          none,         &R::on_granted,            &R::on_busy,               none,             none,               none,             &R::on_acquire_too_late,   &R::on_acquire_unavailable,  none,            none,                       none,                       none,               &R::on_signal_before_start,    none,                  none,                   &R::on_quarantined,  none);
  static const Row pausing    = row(none,          &R::on_tick,  none,                      none,                      none,             none,               none,             none,                      none,                        none,            none,                       none,                       none,               &R::on_signal_before_start,    none,                  none,                   none,  &R::on_woken);
  static const Row retrying   = row(none,          &R::on_tick,  none,                      none,                      none,             none,               none,             none,                      none,                        none,            none,                       none,                       none,               &R::on_signal_before_start,    none,                  none,                   none,  none);
  static const Row canceling  = row(none,          &R::on_cancel_overdue,  &R::on_canceled_acquire,   &R::on_canceled_acquire,   none,             none,               none,             &R::on_canceled_acquire,   &R::on_canceled_acquire,     none,            none,                       none,                       none,               &R::on_signal_before_start,    none,                  none,                   &R::on_canceled_acquire,   none);
  static const Row starting   = row(none,          none,         none,                      none,                      &R::on_renewed,   &R::on_not_holder,  none,             &R::on_renew_failed,       &R::on_renew_failed,         &R::on_started,  &R::on_cannot_start,        &R::on_child_exited,        none,               &R::on_signal_to_command,      &R::on_tasks_counted,  &R::on_guardian_ended,  none,  none);
  static const Row running    = row(none,          none,         none,                      none,                      &R::on_renewed,   &R::on_not_holder,  none,             &R::on_renew_failed,       &R::on_renew_failed,         none,            none,                       &R::on_child_exited,        none,               &R::on_signal_to_command,      &R::on_tasks_counted,  &R::on_guardian_ended,  none,  none);
  static const Row lingering  = row(none,          none,         none,                      none,                      &R::on_renewed,   &R::on_not_holder,  none,             &R::on_renew_failed,       &R::on_renew_failed,         none,            none,                       none,                       &R::on_tree_empty,  &R::on_signal_to_command,      &R::on_tasks_counted,  &R::on_guardian_ended,  none,  none);
  static const Row releasing  = row(none,          &R::on_tick,  none,                      none,                      &R::on_released,  &R::on_released,    &R::on_released,  &R::on_release_failed,     &R::on_release_failed,       none,            none,                       none,                       none,               &R::on_signal_while_releasing, none,                  none,                   none,  none);
  static const Row skipping   = row(none,          none,         none,                      none,                      none,             none,               none,             none,                      none,                        none,            &R::on_skip_command_ended,  &R::on_skip_command_ended,  none,               &R::on_signal_to_command,      none,                  none,                   none,  none);
  static const Row finished   = row(none,          none,         none,                      none,                      none,             none,               none,             none,                      none,                        none,            none,                       none,                       none,               none,                          none,                  none,                   none,  none);
  // clang-format on
  const auto row_of = [](Phase p) -> const Row& {
    switch (p) {
      case Phase::idle:
        return idle;
      case Phase::acquiring:
        return acquiring;
      case Phase::pausing:
        return pausing;
      case Phase::retrying:
        return retrying;
      case Phase::canceling:
        return canceling;
      case Phase::starting:
        return starting;
      case Phase::running:
        return running;
      case Phase::lingering:
        return lingering;
      case Phase::releasing:
        return releasing;
      case Phase::skipping:
        return skipping;
      case Phase::finished:
        return finished;
    }
    return finished;
  };
  return row_of(phase)[event.index()];
}

}  // namespace cronlatch
