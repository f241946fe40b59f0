// SPDX-License-Identifier: Apache-2.0
// Run: THE state machine of `cronlatch run`. Events in, actions out: no I/O, no clock, no threads,
// no randomness but its seed. Every (phase, event) pair has an answer (run.cc is that table).
// proc/drive.h feeds it and carries its actions out.
//
// What it promises (docs/guarantees.md): the command is started only after Granted (or, by
// on-store-down=run, declared ungated); TERM and KILL reach the whole tree in time for everything
// to be reaped before the lease could end; the lock is never released while a descendant lives;
// there is exactly one Finish.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "core/lease.h"
#include "core/outcome.h"
#include "core/store.h"
#include "core/supervisor.h"

namespace cronlatch {

enum class OnBusy { skip, wait, fail };
enum class OnLost { kill, term, warn };
enum class OnStoreDown { fail, wait, run };
enum class Leftovers { end, wait, leave };

struct RunSpec {
  std::string lock;
  std::string owner;  // 32 hex digits from the kernel's random source
  Identity who;
  Timings timings;
  OnBusy on_busy = OnBusy::skip;
  OnLost on_lost = OnLost::kill;
  OnStoreDown on_store_down = OnStoreDown::fail;
  Leftovers leftovers = Leftovers::end;
  Millis connect_timeout{};  // a window: how long the store is tried for one answer
  Millis wait_timeout{0};    // zero: no limit
  Millis min_hold{0};
  Millis max_run{0};     // zero: no limit
  Millis warn_after{0};  // zero: off
  Millis kill_after{};
  Millis once_ttl{};
  Millis grace_period{};  // from TERM until the process may be killed from outside
  unsigned slots = 1;
  bool has_skip_command = false;
  std::uint64_t seed = 0;    // of the jitter
  Micros wall_minus_boot{};  // to print deadlines as wall times, nothing else
};

// ---- events ----
struct Begin {};
struct Tick {};
using Event =
    std::variant<Begin, Tick, Granted, Busy, Renewed, NotHolder, Released, TooLate, Unavailable,
                 ChildStarted, CannotStart, ChildExited, TreeEmpty, SignalArrived, TasksCounted>;

// ---- actions ----
struct StoreRequest {
  Request request;
};
enum class Program { command, skip_command };
struct Launch {
  Program program = Program::command;
  Fence fence = 0;  // zero: ungated, or the skip command
};
struct SendSignal {
  int signo = 0;
  Target target = Target::group;
};
// How long a kill takes depends on the number of processes and threads (lease.h, reap_time).
struct CountTasks {};
struct Finish {};
using Action = std::variant<StoreRequest, Launch, SendSignal, CountTasks, LogLine, Finish>;

enum class Phase {
  idle,        // before Begin
  acquiring,   // a question is with the store
  pausing,     // busy: sleeping until it may be worth asking again
  retrying,    // the store is down: sleeping until the next try
  cancelling,  // a signal came while a question was with the store: waiting for the answer, to give
               // the lock back
  starting,    // granted (or ungated): the command is being executed
  running,     // the command lives
  lingering,   // the command has exited, descendants live
  releasing,   // nothing lives: giving the lock back
  skipping,    // the skip command lives
  finished,
};

class Run {
 public:
  explicit Run(RunSpec spec);
  // What to do now. `now` never goes back.
  std::vector<Action> on(const Event& event, TimePoint now);
  // When to send Tick at the latest; none: only an event can move it on.
  std::optional<TimePoint> wake_at() const;
  // Set once the Finish action has been returned.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  Phase phase() const { return phase_; }

 private:
  enum class Verb { acquire, renew, release };
  // Why the command is being stopped, and when TERM turns into KILL.
  struct Stop {
    Kind kind = Kind::ran;
    Reason reason = Reason::none;
    std::optional<TimePoint> kill_at;
    bool killed = false;
  };

  // The table (run_table.cc): what is done with an event in a phase; nullptr: a stray, which
  // changes nothing.
  using Answer = void (Run::*)(const Event&);
  static Answer answer_to(Phase phase, const Event& event);

  // the answers that are more than a call (run.cc)
  void ask(const Event&);
  void resume(const Event&);
  void take_grant(const Event&);
  void take_busy(const Event&);
  void take_stale(const Event&);
  void take_trouble(const Event&);
  void undo_grant(const Event&);
  void undo_nothing(const Event&);
  void undo_maybe(const Event&);
  void take_kept(const Event&);
  void take_lost(const Event&);
  void take_late(const Event&);
  void take_down(const Event&);
  void take_count(const Event&);
  void take_started(const Event&);
  void take_cannot_start(const Event&);
  void take_exit(const Event&);
  void take_empty(const Event&);
  void take_released(const Event&);
  void take_unreleased(const Event&);
  void end_skip(const Event&);
  void cancel(const Event&);
  void forward(const Event&);
  void hurry(const Event&);

  // before the start (run_acquire.cc)
  void ask_acquire();
  bool is_waited_out(const Unavailable&) const;
  IfBusy how_to_count_busy() const;
  void granted(const Granted&);
  void busy(const Busy&);
  void pause(const Busy&);
  void skip(Kind, Reason);
  void ask_again(const TooLate&);
  void store_trouble(const Unavailable&);
  void store_gave_up();
  void start_ungated();
  void signal_before_start(int signo);
  void give_back_or_finish(Kind, Reason);
  bool waits() const;
  std::optional<TimePoint> wait_ends() const;

  // while anything lives (run_hold.cc)
  void watch_over();
  void lease_timeline();
  void run_limits();
  void enforce_kill();
  void renew_when_due();
  void kept(const Renewed&);
  void renew_failed(const Error&);
  void lease_lost(LostReason);
  void stop(Kind, Reason, std::optional<TimePoint> kill_at);
  bool is_stopping_for_good() const;
  void kill_tree();
  bool anything_lives() const;

  // the end (run_end.cc)
  void child_exited(const ChildExited&);
  void cannot_start(const Error&);
  void everything_ended();
  void let_go(RunVerdict, Kind, Reason, Millis patience);
  bool has_mark() const;
  TimePoint mark_ends(std::optional<TimePoint> terminated_at) const;
  void ask_release();
  void release_failed(const Error&);
  void finish(Kind, Reason);

  static bool asks_for_the_end(int signo);
  using Fields = std::vector<std::pair<std::string, std::string>>;
  void say(Level, std::string event, std::string message, Fields fields = {},
           std::string hint = {});
  void send(Request, Verb);
  double random_unit();  // [0, 1)
  WallTime wall_time(TimePoint) const;
  std::string wall(TimePoint) const;

  RunSpec spec_;
  Phase phase_ = Phase::idle;
  TimePoint now_{};
  std::vector<Action> out_;
  std::optional<Outcome> outcome_;
  std::uint64_t random_;

  // asking
  std::optional<Verb> in_flight_;
  std::uint32_t attempt_ = 1;
  bool maybe_granted_ = false;  // an Acquire was sent and its result is not known
  IfBusy asked_if_busy_ = IfBusy::skip;
  TimePoint began_{};
  std::optional<TimePoint> window_ends_;  // until then the store is tried for one answer
  Millis backoff_{};                      // between windows, with on-store-down=wait
  std::optional<TimePoint> resume_at_;    // pausing, retrying
  Busy last_busy_{};
  bool group_granted_ = false;                       // an answer has said so: never skip
  std::optional<WallTime> held_since_, held_until_;  // the lease of whom we did not wait for
  std::optional<Error> last_error_;

  // holding
  bool leased_ = false;
  std::optional<Lease> lease_;
  Fence fence_ = 0;
  bool stole_ = false;  // the grant took an expired lease over
  TimePoint granted_at_{};
  std::optional<TimePoint> renew_at_;
  bool expiring_ = false;  // TERM was sent because of the lease
  bool lease_gone_ = false;
  Reason gone_because_ = Reason::none;
  int renew_failures_ = 0;

  // the command
  bool ungated_ = false;
  TimePoint started_at_{};
  bool overlong_ = false;
  std::optional<Stop> stop_;
  std::optional<TimePoint> kill_again_at_;
  TimePoint killed_at_{};
  bool stuck_told_ = false;
  std::optional<int> child_code_;
  bool done_ = false;  // the command has exited with 0, and nothing of the work was stopped

  // releasing
  RunVerdict verdict_ = RunVerdict::given_back;
  Kind final_kind_ = Kind::ran;
  Reason final_reason_ = Reason::none;
  TimePoint release_ends_{};
  std::optional<TimePoint> release_at_;
  int release_failures_ = 0;
  bool mark_missing_ = false;               // the run identity is done, and not recorded yet
  std::optional<TimePoint> terminated_at_;  // the first signal that asks for the end
  Millis held_{};
  Millis waited_{};
  int cancel_signo_ = 0;
};

}  // namespace cronlatch
