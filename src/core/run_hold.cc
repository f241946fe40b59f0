// SPDX-License-Identifier: Apache-2.0
// While anything lives: renewing, and the timeline of a lease that cannot be renewed
// (docs/guarantees.md, "Child's fate"). watch_over() runs after every event, so no order of events
// can skip a deadline.
#include <algorithm>
#include <csignal>

#include "core/run.h"

namespace cronlatch {
namespace {

// KILL is repeated while descendants appear or refuse to go; they may have been forking when the
// first one came.
constexpr Millis kKillEvery{100};

Reason reason_of(LostReason reason) {
  switch (reason) {
    case LostReason::expired:
      return Reason::expired;
    case LostReason::taken:
      return Reason::taken;
    case LostReason::revoked:
      return Reason::revoked;
    case LostReason::gone:
      return Reason::gone;
  }
  return Reason::taken;
}

}  // namespace

void Run::watch_over() {
  lease_timeline();
  run_limits();
  enforce_kill();
  renew_when_due();
}

void Run::lease_timeline() {
  if (!leased_ || lease_gone_) return;
  const Timings& t = spec_.timings;
  if (!expiring_ && now_ >= lease_->term_at(t)) {
    expiring_ = true;
    say(Level::error, "expiring",
        "the lease of lock " + spec_.lock + " could not be renewed and ends at " +
            wall(lease_->sent_at + t.ttl) +
            (spec_.on_lost == OnLost::warn ? "; on-lost=warn: the command goes on"
                                           : ": stopping the command"),
        {{"fence", std::to_string(fence_)}});
    if (spec_.on_lost != OnLost::warn)
      stop(Kind::lost, Reason::expired,
           spec_.on_lost == OnLost::kill ? std::optional(now_ + spec_.kill_after) : std::nullopt);
  }
  if (spec_.on_lost == OnLost::kill && now_ >= lease_->kill_at(t)) {
    if (!stop_) stop_ = Stop{Kind::lost, Reason::expired, {}, false};
    kill_tree();
  }
  if (now_ >= lease_->reaped_by(t)) lease_lost(LostReason::expired);
}

void Run::run_limits() {
  if (phase_ == Phase::starting) return;
  if (phase_ == Phase::running && spec_.warn_after.count() > 0 && !overlong_ &&
      now_ >= started_at_ + spec_.warn_after) {
    overlong_ = true;
    say(Level::warn, "long_run",
        "the command has been running for more than warn-after, " +
            std::to_string(spec_.warn_after.count() / 1000) + "s");
  }
  if (spec_.max_run.count() > 0 && !is_stopping_for_good() && now_ >= started_at_ + spec_.max_run) {
    say(Level::error, "max_run", "the command has reached max-run: stopping it");
    stop(Kind::timed_out, Reason::max_run, now_ + spec_.kill_after);
  }
}

// KILL has a time already, or has been sent. on-lost=term alone sets none: max-run still counts.
bool Run::is_stopping_for_good() const { return stop_ && (stop_->kill_at || stop_->killed); }

// TERM now, KILL at `kill_at`. The first cause names the outcome, the earliest KILL counts.
void Run::stop(Kind kind, Reason reason, std::optional<TimePoint> kill_at) {
  if (!stop_) stop_ = Stop{kind, reason, kill_at, false};
  if (kill_at && (!stop_->kill_at || *kill_at < *stop_->kill_at)) stop_->kill_at = kill_at;
  if (!stop_->killed) {
    out_.push_back(SendSignal{SIGTERM, Target::tree});
    out_.push_back(SendSignal{SIGCONT, Target::tree});  // a stopped process cannot act on TERM
  }
}

void Run::enforce_kill() {
  if (!stop_) return;
  if (!stop_->killed && stop_->kill_at && now_ >= *stop_->kill_at) kill_tree();
  if (!stop_->killed || !kill_again_at_ || now_ < *kill_again_at_) return;
  out_.push_back(SendSignal{SIGKILL, Target::tree});
  kill_again_at_ = now_ + kKillEvery;
  if (!stuck_told_ && now_ >= killed_at_ + spec_.timings.reap) {
    stuck_told_ = true;
    say(Level::error, "stuck",
        "a process of the command survives SIGKILL; the lock is not released while it lives",
        {{"fence", std::to_string(fence_)}},
        "it is stuck in the kernel, or belongs to another user: put sudo outside of cronlatch");
  }
}

void Run::kill_tree() {
  if (stop_->killed) return;
  stop_->killed = true;
  killed_at_ = now_;
  kill_again_at_ = now_ + kKillEvery;
  out_.push_back(SendSignal{SIGKILL, Target::tree});
}

void Run::renew_when_due() {
  if (!leased_ || lease_gone_ || in_flight_ || !renew_at_ || now_ < *renew_at_) return;
  renew_at_.reset();
  send(Renew{.lock = spec_.lock,
             .claim = {spec_.owner, attempt_},
             .identity = spec_.identity,
             .fence = fence_,
             .ttl = spec_.timings.ttl,
             .give_up = std::min<TimePoint>(now_ + spec_.timings.op_timeout,
                                            lease_->reaped_by(spec_.timings))},
       Verb::renew);
}

void Run::kept(const Renewed& reply) {
  if (lease_gone_) return;
  lease_->sent_at = std::max(lease_->sent_at, reply.sent_at);
  renew_at_ = reply.sent_at + std::chrono::duration_cast<Micros>(spec_.timings.renew_every *
                                                                 (0.9 + 0.2 * random_unit()));
  if (reply.restored)
    say(Level::error, "restored",
        "the store had lost the record of lock " + spec_.lock + "; it was written again",
        {{"fence", std::to_string(fence_)}},
        "the store must keep what it acknowledged: append-only file with fsync always, noeviction");
  if (renew_failures_ > 0)
    say(Level::info, "renewed",
        "the lease is renewed again after " + std::to_string(renew_failures_) + " failures");
  renew_failures_ = 0;
}

void Run::renew_failed(const Error& error) {
  if (lease_gone_) return;
  if (renew_failures_++ == 0)
    say(Level::warn, "renew_failed",
        "renewing the lease failed: " + error.message + "; the command is stopped at " +
            wall(lease_->term_at(spec_.timings)) + " if this goes on",
        {{"fence", std::to_string(fence_)}}, error.hint);
  renew_at_ = now_ + spec_.timings.retry_gap;
}

void Run::lease_lost(LostReason reason) {
  if (lease_gone_) return;
  lease_gone_ = true;
  renew_at_.reset();
  gone_because_ = reason_of(reason);
  // A command that had exited when its background processes lost the lease under them.
  if (stop_ && stop_->kind == Kind::ran && spec_.on_lost != OnLost::warn) stop_->kind = Kind::lost;
  if (stop_ && stop_->kind == Kind::lost) stop_->reason = gone_because_;
  say(Level::error, "lost",
      "the lease of lock " + spec_.lock + " is lost: " + std::string(name_of(gone_because_)),
      {{"reason", std::string(name_of(gone_because_))}, {"fence", std::to_string(fence_)}});
  switch (spec_.on_lost) {
    case OnLost::warn:
      return;
    case OnLost::term:
      return stop(Kind::lost, gone_because_, std::nullopt);
    case OnLost::kill:
      break;
  }
  if (reason == LostReason::revoked) {  // nobody can be granted before the lease itself ends:
                                        // time to stop in good order
    const TimePoint last = lease_->kill_at(spec_.timings);
    return stop(Kind::lost, gone_because_, std::min<TimePoint>(now_ + spec_.kill_after, last));
  }
  if (!stop_) stop_ = Stop{Kind::lost, gone_because_, {}, false};
  kill_tree();
}

}  // namespace cronlatch
