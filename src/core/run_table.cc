// SPDX-License-Identifier: Apache-2.0
// The table of the state machine: a row per phase, a column per event. A new phase or a new event
// does not compile until every pair has been answered here; `none` is an answer too: a stray
// changes nothing.
#include <array>

#include "core/run.h"

namespace cronlatch {

Run::Answer Run::answer_to(Phase phase, const Event& event) {
  using Row = std::array<Answer, std::variant_size_v<Event>>;
  const auto row =
      []<class... A>(A... answers) requires(sizeof...(A) == std::variant_size_v<Event>) {
    return Row{answers...};
  };
  constexpr Answer none = nullptr;
  using R = Run;
  // clang-format off
  //                             Begin    Tick        Granted         Busy              Kept               NotHolder            Freed              Stale                Down                 ChildStarted      CannotStart            ChildExited    TreeEmpty       SignalArrived
  static const Row idle       = row(&R::ask, none,       none,           none,             none,              none,              none,              none,                none,                none,             none,                  none,          none,           &R::cancel);
  static const Row acquiring  = row(none,    none,       &R::take_grant, &R::take_busy,    none,              none,              none,              &R::take_stale,      &R::take_trouble,    none,             none,                  none,          none,           &R::cancel);
  static const Row pausing    = row(none,    &R::resume, none,           none,             none,              none,              none,              none,                none,                none,             none,                  none,          none,           &R::cancel);
  static const Row retrying   = row(none,    &R::resume, none,           none,             none,              none,              none,              none,                none,                none,             none,                  none,          none,           &R::cancel);
  static const Row cancelling = row(none,    none,       &R::undo_grant, &R::undo_nothing, none,              none,              none,              &R::undo_maybe,      &R::undo_maybe,      none,             none,                  none,          none,           &R::cancel);
  static const Row starting   = row(none,    none,       none,           none,             &R::take_kept,     &R::take_lost,     none,              &R::take_late,       &R::take_down,       &R::take_started, &R::take_cannot_start, &R::take_exit, none,           &R::forward);
  static const Row running    = row(none,    none,       none,           none,             &R::take_kept,     &R::take_lost,     none,              &R::take_late,       &R::take_down,       none,             none,                  &R::take_exit, none,           &R::forward);
  static const Row lingering  = row(none,    none,       none,           none,             &R::take_kept,     &R::take_lost,     none,              &R::take_late,       &R::take_down,       none,             none,                  none,          &R::take_empty, &R::forward);
  static const Row releasing  = row(none,    &R::resume, none,           none,             &R::take_released, &R::take_released, &R::take_released, &R::take_unreleased, &R::take_unreleased, none,             none,                  none,          none,           &R::hurry);
  static const Row skipping   = row(none,    none,       none,           none,             none,              none,              none,              none,                none,                none,             &R::end_skip,          &R::end_skip,  none,           &R::forward);
  static const Row finished   = row(none,    none,       none,           none,             none,              none,              none,              none,                none,                none,             none,                  none,          none,           none);
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
      case Phase::cancelling:
        return cancelling;
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
