// SPDX-License-Identifier: Apache-2.0
// The cross product of phases and events: whatever comes in whatever phase, the rules that no phase
// may break hold.
#include <csignal>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "support/run_driver.h"

namespace cronlatch::testing {
namespace {

const std::vector<std::pair<Phase, std::function<void(RunDriver&)>>>& ways_into_phases() {
  static const Busy busy{.reason = BusyReason::held,
                         .holder = "x",
                         .job = "",
                         .fence = 3,
                         .held_for = {},
                         .remaining = Seconds(60)};
  static const std::vector<std::pair<Phase, std::function<void(RunDriver&)>>> ways = {
      {Phase::idle, [](RunDriver&) {}},
      {Phase::acquiring, [](RunDriver& d) { d.on(Millis(0), Begin{}); }},
      {Phase::pausing, [](RunDriver& d) { d.on(Millis(0), Begin{}).on(Millis(1), busy); }},
      {Phase::retrying,
       [](RunDriver& d) {
         d.on(Millis(0), Begin{}).on(Millis(1), Unavailable{{Code::unreachable, "x"}, true, false});
       }},
      {Phase::canceling,
       [](RunDriver& d) { d.on(Millis(0), Begin{}).on(Millis(1), SignalArrived{SIGTERM}); }},
      {Phase::starting, [](RunDriver& d) { d.on(Millis(0), Begin{}).granted(); }},
      {Phase::running, [](RunDriver& d) { d.up_to_running(); }},
      {Phase::lingering,
       [](RunDriver& d) {
         d.up_to_running().on(Millis(1), ChildExited{0, false});
       }},
      {Phase::releasing,
       [](RunDriver& d) {
         d.up_to_running().on(Millis(1), ChildExited{0, true});
       }},
      {Phase::skipping,
       [](RunDriver& d) {
         d.on(Millis(0), Begin{}).on(Millis(1), Busy{.reason = BusyReason::done, .holder = "y"});
       }},
      {Phase::finished,
       [](RunDriver& d) {
         d.up_to_running().on(Millis(1), ChildExited{0, true}).on(Millis(2), Released{});
       }},
  };
  return ways;
}

const std::vector<Event>& events() {
  static const std::vector<Event> all = {Begin{},
                                         Tick{},
                                         Granted{.fence = 9, .sent_at = at(Millis(2))},
                                         Busy{.reason = BusyReason::held, .holder = "y"},
                                         Busy{.reason = BusyReason::done},
                                         Renewed{.sent_at = at(Millis(2))},
                                         NotHolder{LostReason::expired},
                                         NotHolder{LostReason::taken},
                                         NotHolder{LostReason::revoked},
                                         NotHolder{LostReason::gone},
                                         Released{},
                                         TooLate{.closed = true},
                                         TooLate{.closed = false},
                                         Unavailable{{Code::unreachable, "x"}, true, false},
                                         Unavailable{{Code::unreachable, "x"}, true, true},
                                         Unavailable{{Code::auth, "x"}, false, true},
                                         ChildStarted{},
                                         CannotStart{{Code::exec_missing, "x"}},
                                         ChildExited{0, true},
                                         ChildExited{1, false},
                                         TreeEmpty{},
                                         TasksCounted{30'000},
                                         GuardianEnded{},
                                         Quarantined{Millis(5'000)},
                                         Woken{},
                                         SignalArrived{SIGTERM},
                                         SignalArrived{SIGUSR1},
                                         SignalArrived{SIGCONT}};
  return all;
}

RunSpec table_spec() {
  RunSpec spec = spec_with(Millis(30'000));
  spec.on_busy = OnBusy::wait;
  spec.has_skip_command = true;
  return spec;
}

int count_finishes(const RunDriver& d) {
  int n = 0;
  for (const Action& a : d.all) n += std::holds_alternative<Finish>(a);
  return n;
}
int count_launches(const RunDriver& d) {
  int n = 0;
  for (const Action& a : d.all)
    if (const Launch* l = std::get_if<Launch>(&a)) n += l->program == Program::command;
  return n;
}
bool may_start_here(Phase phase, const Event& event) {
  return phase == Phase::acquiring && std::holds_alternative<Granted>(event);
}

// Phase::finished is the last one: a phase that is added without a way into it fails here.
TEST(RunTable, EveryPhaseIsReached) {
  std::set<Phase> reached;
  for (const auto& [phase, enter] : ways_into_phases()) {
    RunDriver d(table_spec());
    enter(d);
    EXPECT_EQ(d.run.phase(), phase);
    reached.insert(d.run.phase());
  }
  EXPECT_EQ(reached.size(), static_cast<std::size_t>(Phase::finished) + 1);
}

TEST(RunTable, NoPairStartsTwiceFinishesTwiceOrStartsUngranted) {
  for (const auto& [phase, enter] : ways_into_phases())
    for (std::size_t e = 0; e < events().size(); ++e) {
      RunDriver d(table_spec());
      enter(d);
      const int launches = count_launches(d);
      d.on(Millis(3), events()[e]);
      EXPECT_LE(count_finishes(d), 1) << static_cast<int>(phase) << " " << e;
      EXPECT_EQ(d.run.outcome().has_value(), count_finishes(d) == 1);
      EXPECT_EQ(count_launches(d) - launches, may_start_here(phase, events()[e]) ? 1 : 0)
          << static_cast<int>(phase) << " " << e;
    }
}

TEST(RunTable, APhaseThatIsNotFinishedIsAlwaysWaitingForSomething) {
  for (const auto& [phase, enter] : ways_into_phases())
    for (std::size_t e = 0; e < events().size(); ++e) {
      RunDriver d(table_spec());
      enter(d);
      d.on(Millis(3), events()[e]);
      const Phase now = d.run.phase();
      if (now == Phase::pausing || now == Phase::retrying) {
        EXPECT_TRUE(d.run.wake_at().has_value()) << static_cast<int>(phase) << " " << e;
      }
    }
}

TEST(RunTable, TermReachesTheCommandInEveryPhaseInWhichItLives) {
  for (const Phase phase : {Phase::starting, Phase::running, Phase::lingering}) {
    RunDriver d(table_spec());
    for (const auto& [p, enter] : ways_into_phases())
      if (p == phase) enter(d);
    d.on(Millis(3), SignalArrived{SIGTERM});
    EXPECT_TRUE(d.sent_signal(SIGTERM, phase == Phase::lingering ? Target::tree : Target::group));
  }
}

// Pairs of events, from every phase: deep enough to meet a stray answer after a change of phase.
TEST(RunTable, TwoEventsInARowKeepTheRules) {
  for (const auto& [phase, enter] : ways_into_phases())
    for (std::size_t a = 0; a < events().size(); ++a)
      for (std::size_t b = 0; b < events().size(); ++b) {
        RunDriver d(table_spec());
        enter(d);
        d.on(Millis(3), events()[a]).on(Millis(4), events()[b]).tick_until(Millis(50));
        EXPECT_LE(count_finishes(d), 1) << static_cast<int>(phase) << " " << a << " " << b;
        EXPECT_LE(count_launches(d), 1) << static_cast<int>(phase) << " " << a << " " << b;
      }
}

}  // namespace
}  // namespace cronlatch::testing
