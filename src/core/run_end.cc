// SPDX-License-Identifier: Apache-2.0
// The end of a run: background processes are stopped, then the lock is released, then there is one
// Finish. A release that fails is reported and changes nothing: the lease ends by itself.
#include <algorithm>

#include "core/run.h"

namespace cronlatch {
namespace {

// Retries delay the exit; without a release the next run waits for at most one lease.
constexpr Millis kReleasePatience{5'000};
// Without the done mark a later run may repeat the work.
constexpr Millis kMarkPatience{120'000};
// The part of the grace period that is kept for the outcome, before SIGKILL from outside.
constexpr Millis kReportTime{1'000};

}  // namespace

void Run::on_cannot_start(const Event& event) {
  const Error& error = std::get<CannotStart>(event).error;
  last_error_ = error;
  held_ = Millis(0);
  log(Level::error, "cannot_start", error.message, {}, error.hint);
  start_release(RunVerdict::cannot_start, Kind::cannot_start, Reason::exec, kReleasePatience);
}

void Run::on_child_exited(const Event& event) {
  const ChildExited& exited = std::get<ChildExited>(event);
  child_code_ = exited.code;
  work_done_ = exited.code == 0 && !stop_;
  held_ = std::chrono::duration_cast<Millis>(now_ - granted_at_);
  if (exited.tree_empty) return end_tree();
  if (stop_) {
    phase_ = Phase::lingering;  // it is being stopped already
    return;
  }
  switch (spec_.leftovers) {
    case Leftovers::leave:
      log(Level::warn, "leftovers",
          "the command exited and left background processes; leftovers=leave: the lock is released "
          "while they run");
      return end_tree();
    case Leftovers::wait:
      log(Level::info, "leftovers",
          "the command exited and left background processes; the lock is held until they end");
      phase_ = Phase::lingering;
      return;
    case Leftovers::end:
      log(Level::info, "leftovers",
          "the command exited and left background processes; they are stopped");
      phase_ = Phase::lingering;
      return stop(Kind::ran, Reason::none, now_ + spec_.kill_after);
  }
}

void Run::on_tree_empty(const Event&) { end_tree(); }

void Run::end_tree() {
  // leftovers=wait: the background processes are part of the command's work.
  if (stop_ && spec_.leftovers == Leftovers::wait) work_done_ = false;
  const bool stopped = stop_ && stop_->kind != Kind::ran;
  const Kind kind = stopped ? stop_->kind : Kind::ran;
  Reason reason = stopped ? stop_->reason : Reason::none;
  RunVerdict verdict = child_code_ == 0 ? RunVerdict::succeeded : RunVerdict::failed;
  if (kind == Kind::timed_out) verdict = RunVerdict::timed_out;
  if (kind == Kind::lost) verdict = RunVerdict::lost;
  if (ungated_) {
    reason = Reason::ungated;
    return start_release(RunVerdict::ungated, kind, reason, spec_.timings.op_timeout);
  }
  if (kind == Kind::ran &&
      lease_lost_) {  // on-lost=warn: the exit code is the command's, but the run counts as lost
    reason = lost_reason_;
    verdict = RunVerdict::lost;
  }
  // After a lost lease the release only counts the run.
  start_release(verdict, kind, reason, lease_lost_ ? spec_.timings.op_timeout : kReleasePatience);
}

void Run::start_release(RunVerdict verdict, Kind kind, Reason reason, Millis patience) {
  phase_ = Phase::releasing;
  verdict_ = verdict;
  final_kind_ = kind;
  final_reason_ = reason;
  release_ends_ = now_ + patience;
  // The release also records the run identity as done.
  mark_missing_ = work_done_ && !spec_.identity.once.empty();
  if (mark_missing_) release_ends_ = done_mark_deadline(terminated_at_);
  if (!in_flight_) send_release();  // otherwise after the reply to the renewal
}

TimePoint Run::done_mark_deadline(std::optional<TimePoint> terminated_at) const {
  const TimePoint ends = now_ + kMarkPatience;
  if (!terminated_at) return ends;
  return std::min<TimePoint>(ends, *terminated_at + spec_.grace_period - kReportTime);
}

void Run::send_release() {
  release_at_.reset();
  send(Release{.lock = spec_.lock,
               .claim = {spec_.owner, attempt_},
               .identity = spec_.identity,
               .fence = fence_,
               .verdict = verdict_,
               .overlong = overlong_,
               .mark_done = mark_missing_,
               .held = held_,
               .min_hold = spec_.min_hold,
               .once_ttl = spec_.once_ttl,
               .give_up = std::min<TimePoint>(now_ + spec_.timings.op_timeout,
                                              std::max(release_ends_, now_ + Millis(1)))},
       Verb::release);
}

// The reply to a renewal that was sent before the command ended is followed by the release.
void Run::on_released(const Event& event) {
  if (answered_ == Verb::renew) return send_release();
  mark_missing_ = false;
  const bool exited = verdict_ == RunVerdict::succeeded || verdict_ == RunVerdict::failed;
  if (std::holds_alternative<NotHolder>(event) && exited)
    log(Level::warn, "release_not_holder",
        "this run no longer held lock " + spec_.lock + " at its release");
  finish(final_kind_, final_reason_);
}

void Run::on_release_failed(const Event& event) {
  if (answered_ == Verb::renew) return send_release();
  if (const Unavailable* failure = std::get_if<Unavailable>(&event))
    return retry_release(failure->error);
  if (std::get<TooLate>(event).closed) return finish(final_kind_, final_reason_);
  retry_release({Code::unreachable, "the request arrived too late, by the store's clock"});
}

void Run::retry_release(const Error& error) {
  if (now_ + spec_.timings.retry_gap < release_ends_) {
    release_at_ = now_ + spec_.timings.retry_gap;
    if (mark_missing_ && release_failures_++ == 0)
      log(Level::warn, "mark_delayed",
          "run identity " + spec_.identity.once + " is done, but the store could not record it: " +
              error.message + "; retried until " + wall(release_ends_),
          {{"once_per", spec_.identity.once}}, error.hint);
    return;
  }
  const bool certain = leased_ && !lease_lost_ && verdict_ != RunVerdict::given_back;
  if (has_place_ && !maybe_granted_) {
    log(Level::warn, "release_failed",
        "the place in the queue of lock " + spec_.lock + " could not be removed: " + error.message +
            "; it ends within 6s",
        {}, error.hint);
    return finish(final_kind_, final_reason_);
  }
  log(Level::warn, "release_failed",
      (ungated_         ? "the run without lock " + spec_.lock + " could not be counted: "
       : maybe_granted_ ? "whether lock " + spec_.lock +
                              " was granted is not known, and it could not be released: "
                        : "lock " + spec_.lock + " could not be released: ") +
          error.message +
          (certain ? "; its lease ends at " + wall(lease_->sent_at + spec_.timings.ttl) : ""),
      {}, error.hint);
  if (mark_missing_)
    log(Level::error, "not_marked",
        "run identity " + spec_.identity.once +
            " is done, but could not be recorded in the store; a later run may do the same work "
            "again",
        {{"once_per", spec_.identity.once}});
  finish(final_kind_, final_reason_);
}

// The time for the done mark ends with the grace period; a second signal ends it at once.
void Run::on_signal_while_releasing(const Event& event) {
  if (!mark_missing_ || !requests_termination(std::get<SignalArrived>(event).signo)) return;
  const bool again = terminated_at_.has_value();
  if (!again) terminated_at_ = now_;
  release_ends_ = again ? now_ : std::min(release_ends_, done_mark_deadline(now_));
}

void Run::on_skip_command_ended(const Event& event) {
  if (const CannotStart* failed = std::get_if<CannotStart>(&event)) {
    log(Level::warn, "skip_command_failed", "skip-command: " + failed->error.message, {},
        failed->error.hint);
  } else {
    const std::string code = std::to_string(std::get<ChildExited>(event).code);
    log(Level::info, "skip_command_ended", "skip-command ended with exit code " + code,
        {{"exit_code", code}});
  }
  finish(final_kind_, final_reason_);
}

void Run::finish(Kind kind, Reason reason) {
  phase_ = Phase::finished;
  Outcome o;
  o.kind = kind;
  o.reason = reason;
  o.lock = spec_.lock;
  o.started = wall_time(began_);
  o.waited = waited_;
  o.held = held_;
  o.signo = cancel_signo_;
  o.child_code = child_code_;
  const bool by_holder = kind == Kind::skipped || kind == Kind::busy;
  o.holder = by_holder ? last_busy_.holder : spec_.identity.holder;
  o.fence = by_holder ? last_busy_.fence : fence_;
  o.since = held_since_;
  o.until = held_until_;
  o.stole = stole_;
  o.not_marked = mark_missing_;
  if (kind == Kind::store_down || kind == Kind::refused || kind == Kind::cannot_start)
    o.error = last_error_;
  outcome_ = std::move(o);
  out_.push_back(Finish{});
}

}  // namespace cronlatch
