// SPDX-License-Identifier: Apache-2.0
// The end of a run: what the command left behind is ended, then the lock is given back, then there
// is one Finish. A release that fails is reported and changes nothing: the lease ends by itself.
#include <algorithm>

#include "core/run.h"

namespace cronlatch {
namespace {

// Trying to release costs the user's time, not releasing costs the next run at most one lease.
constexpr Millis kReleasePatience{5'000};
// A mark that is missing costs the user the same work a second time.
constexpr Millis kMarkPatience{120'000};
// Of the grace period: to write the outcome before the process is killed from outside.
constexpr Millis kReportTime{1'000};

}  // namespace

void Run::cannot_start(const Error& error) {
  last_error_ = error;
  held_ = Millis(0);
  say(Level::error, "cannot_start", error.message, {}, error.hint);
  let_go(RunVerdict::cannot_start, Kind::cannot_start, Reason::exec, kReleasePatience);
}

void Run::child_exited(const ChildExited& exited) {
  child_code_ = exited.code;
  done_ = exited.code == 0 && !stop_;
  held_ = std::chrono::duration_cast<Millis>(now_ - granted_at_);
  if (exited.tree_empty) return everything_ended();
  if (stop_) {
    phase_ = Phase::lingering;  // already being ended
    return;
  }
  switch (spec_.leftovers) {
    case Leftovers::leave:
      say(Level::warn, "leftovers",
          "the command left processes behind; leftovers=leave: the lock is released over them");
      return everything_ended();
    case Leftovers::wait:
      say(Level::info, "leftovers",
          "the command has exited, but left processes behind: holding the lock until they end");
      phase_ = Phase::lingering;
      return;
    case Leftovers::end:
      say(Level::info, "leftovers",
          "the command has exited, but left processes behind: ending them");
      phase_ = Phase::lingering;
      return stop(Kind::ran, Reason::none, now_ + spec_.kill_after);
  }
}

void Run::everything_ended() {
  // leftovers=wait: what the command left behind is part of its work.
  if (stop_ && spec_.leftovers == Leftovers::wait) done_ = false;
  const bool stopped = stop_ && stop_->kind != Kind::ran;
  const Kind kind = stopped ? stop_->kind : Kind::ran;
  Reason reason = stopped ? stop_->reason : Reason::none;
  RunVerdict verdict = child_code_ == 0 ? RunVerdict::succeeded : RunVerdict::failed;
  if (kind == Kind::timed_out) verdict = RunVerdict::timed_out;
  if (kind == Kind::lost) verdict = RunVerdict::lost;
  if (ungated_) {
    reason = Reason::ungated;
    return let_go(RunVerdict::ungated, kind, reason, spec_.timings.op_timeout);
  }
  if (kind == Kind::ran &&
      lease_gone_) {  // on-lost=warn let it go on: its own code, but it counts as lost
    reason = gone_because_;
    verdict = RunVerdict::lost;
  }
  // With the lease gone there is nothing to free, only to count.
  let_go(verdict, kind, reason, lease_gone_ ? spec_.timings.op_timeout : kReleasePatience);
}

void Run::let_go(RunVerdict verdict, Kind kind, Reason reason, Millis patience) {
  phase_ = Phase::releasing;
  verdict_ = verdict;
  final_kind_ = kind;
  final_reason_ = reason;
  release_ends_ = now_ + patience;
  mark_missing_ = has_mark();
  if (mark_missing_) release_ends_ = mark_ends(terminated_at_);
  if (!in_flight_) ask_release();  // else when the renewal that is with the store has been answered
}

// The release writes more than the end of a lease: the run identity is done.
bool Run::has_mark() const { return done_ && !spec_.identity.once.empty(); }

TimePoint Run::mark_ends(std::optional<TimePoint> terminated_at) const {
  const TimePoint ends = now_ + kMarkPatience;
  if (!terminated_at) return ends;
  return std::min<TimePoint>(ends, *terminated_at + spec_.grace_period - kReportTime);
}

void Run::ask_release() {
  release_at_.reset();
  send(Release{.lock = spec_.lock,
               .claim = {spec_.owner, attempt_},
               .identity = spec_.identity,
               .fence = fence_,
               .verdict = verdict_,
               .overlong = overlong_,
               .mark_done = has_mark(),
               .held = held_,
               .min_hold = spec_.min_hold,
               .once_ttl = spec_.once_ttl,
               .give_up = std::min<TimePoint>(now_ + spec_.timings.op_timeout,
                                              std::max(release_ends_, now_ + Millis(1)))},
       Verb::release);
}

void Run::release_failed(const Error& error) {
  if (now_ + spec_.timings.retry_gap < release_ends_) {
    release_at_ = now_ + spec_.timings.retry_gap;
    if (mark_missing_ && release_failures_++ == 0)
      say(Level::warn, "mark_delayed",
          "run identity " + spec_.identity.once + " is done, but the store does not record it: " +
              error.message + "; retried until " + wall(release_ends_),
          {{"once_per", spec_.identity.once}}, error.hint);
    return;
  }
  const bool certain = leased_ && !lease_gone_ && verdict_ != RunVerdict::given_back;
  say(Level::warn, "release_failed",
      "the lock " + spec_.lock + " could not be released: " + error.message +
          (certain ? "; its lease ends at " + wall(lease_->sent_at + spec_.timings.ttl) : ""),
      {}, error.hint);
  if (mark_missing_)
    say(Level::error, "not_marked",
        "run identity " + spec_.identity.once +
            " is done, but could not be recorded in the store; a later run may do the same work "
            "again",
        {{"once_per", spec_.identity.once}});
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
  const bool others = kind == Kind::skipped || kind == Kind::busy;
  o.holder = others ? last_busy_.holder : spec_.identity.holder;
  o.fence = others ? last_busy_.fence : fence_;
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
