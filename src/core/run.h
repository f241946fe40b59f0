// SPDX-License-Identifier: Apache-2.0
// Run: THE state machine of `cronlatch run`. Events in, actions out: no I/O, no clock, no threads,
// no randomness but its seed. Every (phase, event) pair has a handler (run_table.cc). proc/drive.h
// passes events to it and executes its actions.
//
// What it guarantees (docs/guarantees.md): the command is started only after Granted (or, with
// on-store-down=run, ungated); TERM and KILL reach the whole tree early enough for everything to be
// reaped before the lease can end; the lock is never released while a descendant lives; there is
// exactly one Finish.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/run_events.h"
#include "core/run_spec.h"

namespace cronlatch {

class Run {
 public:
  explicit Run(RunSpec spec);
  // The actions for this event. `now` never goes back.
  std::vector<Action> on(const Event& event, TimePoint now);
  // When to send Tick at the latest; none: only another event changes the phase.
  std::optional<TimePoint> wake_at() const;
  // Set once the Finish action has been returned.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  Phase phase() const { return phase_; }

 private:
  enum class Verb { acquire, renew, release };
  // Why the command is being stopped, and when KILL follows TERM.
  struct Stop {
    Kind kind = Kind::ran;
    Reason reason = Reason::none;
    std::optional<TimePoint> kill_at;
    bool killed = false;
  };

  // The table (run_table.cc): the handler of an event in a phase; nullptr: the event is ignored.
  using Handler = void (Run::*)(const Event&);
  static Handler handler_of(Phase phase, const Event& event);

  // before the start (run_acquire.cc, run_busy.cc)
  void on_begin(const Event&);
  void on_granted(const Event&);
  void on_busy(const Event&);
  void on_quarantined(const Event&);
  void on_acquire_too_late(const Event&);
  void on_acquire_unavailable(const Event&);
  void on_canceled_acquire(const Event&);
  void on_cancel_overdue(const Event&);
  void on_woken(const Event&);
  void on_signal_before_start(const Event&);
  void send_acquire();
  void retry_acquire(const Unavailable&);
  void end_window();
  void start_ungated();
  bool is_retried(const Unavailable&) const;
  bool is_waiting_for_lock() const;
  std::optional<TimePoint> wait_ends() const;
  IfBusy if_busy_now() const;
  void log_waiting(const Busy&);
  void pause(const Busy&);
  void finish_without_lock(Kind, Reason);
  std::string explain_busy(Kind, Reason);
  void release_or_finish(Kind, Reason);

  // while a process of the command lives (run_hold.cc)
  void on_started(const Event&);
  void on_renewed(const Event&);
  void on_not_holder(const Event&);
  void on_renew_failed(const Event&);
  void on_tasks_counted(const Event&);
  void on_guardian_ended(const Event&);
  void on_signal_to_command(const Event&);
  void enforce_deadlines();
  void lease_timeline();
  void run_limits();
  void enforce_kill();
  void renew_when_due();
  void lose_lease(LostReason);
  void stop(Kind, Reason, std::optional<TimePoint> kill_at);
  bool has_kill_time() const;
  void kill_tree();
  bool has_processes() const;
  std::optional<TimePoint> kill_time() const;

  // the end (run_end.cc)
  void on_cannot_start(const Event&);
  void on_child_exited(const Event&);
  void on_tree_empty(const Event&);
  void on_skip_command_ended(const Event&);
  void on_released(const Event&);
  void on_release_failed(const Event&);
  void on_signal_while_releasing(const Event&);
  void end_tree();
  void start_release(RunVerdict, Kind, Reason, Millis patience);
  void send_release();
  void retry_release(const Error&);
  TimePoint done_mark_deadline(std::optional<TimePoint> terminated_at) const;
  void finish(Kind, Reason);

  // shared (run.cc)
  void on_tick(const Event&);
  static bool requests_termination(int signo);
  using Fields = std::vector<std::pair<std::string, std::string>>;
  void log(Level, std::string event, std::string message, Fields fields = {},
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

  // requests to the store
  std::optional<Verb> in_flight_;
  std::optional<Verb> answered_;  // by the reply that is being handled
  std::uint32_t attempt_ = 1;
  bool maybe_granted_ = false;  // an Acquire was sent and its result is not known
  IfBusy sent_if_busy_ = IfBusy::skip;
  TimePoint began_{};
  std::optional<TimePoint> window_ends_;  // until then one request is retried
  Millis backoff_{};                      // between windows, with on-store-down=wait
  std::optional<TimePoint> resume_at_;    // pausing, retrying; canceling: until then at most
  Busy last_busy_{};
  std::optional<Fence> waited_for_;                  // the holder in the last log line of the wait
  bool has_place_ = false;                           // in the store's queue
  bool group_granted_ = false;                       // a reply contained it: never skip
  std::optional<WallTime> held_since_, held_until_;  // skipped, busy: the holder's lease
  bool quarantine_logged_ = false;
  std::optional<Error> last_error_;

  // the lease
  bool leased_ = false;
  std::optional<Lease> lease_;
  Fence fence_ = 0;
  bool stole_ = false;  // the grant took over an expired lease
  TimePoint granted_at_{};
  std::optional<TimePoint> renew_at_;
  std::optional<TimePoint> kill_time_;  // the last SetKillTime
  bool expiring_ = false;               // TERM was sent because of the lease
  bool lease_lost_ = false;
  Reason lost_reason_ = Reason::none;
  int renew_failures_ = 0;

  // the command
  bool ungated_ = false;
  TimePoint started_at_{};
  bool overlong_ = false;
  std::optional<Stop> stop_;
  std::optional<TimePoint> kill_again_at_;
  TimePoint killed_at_{};
  bool stuck_logged_ = false;
  std::optional<int> child_code_;
  bool work_done_ = false;  // the command has exited with 0, and nothing of the work was stopped

  // the release
  RunVerdict verdict_ = RunVerdict::given_back;
  Kind final_kind_ = Kind::ran;
  Reason final_reason_ = Reason::none;
  TimePoint release_ends_{};
  std::optional<TimePoint> release_at_;
  int release_failures_ = 0;
  bool mark_missing_ = false;               // the run identity is done, and not recorded yet
  std::optional<TimePoint> terminated_at_;  // the first signal that requests termination
  Millis held_{};
  Millis waited_{};
  int cancel_signo_ = 0;
};

}  // namespace cronlatch
