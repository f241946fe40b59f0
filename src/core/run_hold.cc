// SPDX-License-Identifier: Apache-2.0
// While a process of the command lives: renewals, and the timeline of a lease that cannot be
// renewed (docs/guarantees.md, "Child's fate"). enforce_deadlines() runs after every event, so no
// order of events can skip a deadline.
#include <algorithm>
#include <csignal>

#include "base/duration.h"
#include "core/run.h"

namespace cronlatch {
namespace {

// KILL is repeated while descendants appear or survive: they may have forked during the first one.
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

constexpr const char* kKeepWrites =
    "the store must keep acknowledged writes: appendonly yes, appendfsync always, "
    "maxmemory-policy noeviction";

constexpr const char* kKeepRenewing =
    "no renewal arrived in time: set a longer ttl, and check that this host and the store were not "
    "paused";

// The cause, and how to prevent it.
std::string loss_hint(LostReason reason) {
  switch (reason) {
    case LostReason::revoked:
      return "a user revoked it with release --force";
    case LostReason::gone:
      return std::string("the store lost this run's record; ") + kKeepWrites;
    case LostReason::taken:
      return std::string(kKeepRenewing) +
             "; or a program that does not respect the lock wrote its key";
    case LostReason::expired:
      break;
  }
  return kKeepRenewing;
}

}  // namespace

void Run::on_started(const Event&) {
  phase_ = Phase::running;
  started_at_ = now_;
}

void Run::on_tasks_counted(const Event& event) {
  spec_.timings.reap = reap_time(std::get<TasksCounted>(event).tasks);
}

// The run cannot continue: nothing would kill the tree at the end of the lease if this process were
// stopped. The command's first process has been killed with the guardian.
void Run::on_guardian_ended(const Event&) {
  log(Level::error, "guardian_ended",
      "the guardian of the command ended or was stopped; the command is killed",
      {{"fence", std::to_string(fence_)}},
      "check what sent a signal to the process cronlatch-guard");
  if (!stop_) stop_ = Stop{Kind::lost, Reason::guardian, {}, false};
  kill_tree();
}

void Run::on_signal_to_command(const Event& event) {
  // After a long stop (SIGCONT) the lease is checked before the command continues.
  if (has_processes()) enforce_deadlines();
  const int signo = std::get<SignalArrived>(event).signo;
  if (requests_termination(signo) && !terminated_at_) terminated_at_ = now_;
  // The group is the command's. After the command has exited, the signal goes to every descendant.
  out_.push_back(SendSignal{signo, phase_ == Phase::lingering ? Target::tree : Target::group});
}

void Run::enforce_deadlines() {
  lease_timeline();
  run_limits();
  enforce_kill();
  renew_when_due();
}

void Run::lease_timeline() {
  if (!leased_ || lease_lost_) return;
  const Timings& t = spec_.timings;
  if (!expiring_ && now_ >= lease_->term_at(t)) {
    expiring_ = true;
    log(Level::error, "expiring",
        "the lease of lock " + spec_.lock + " could not be renewed and ends at " +
            wall(lease_->sent_at + t.ttl) +
            (spec_.on_lost == OnLost::warn ? "; on-lost=warn: the command continues"
                                           : "; the command is stopped"),
        {{"fence", std::to_string(fence_)}});
    if (spec_.on_lost != OnLost::warn)
      stop(Kind::lost, Reason::expired,
           spec_.on_lost == OnLost::kill ? std::optional(now_ + spec_.kill_after) : std::nullopt);
  }
  if (spec_.on_lost == OnLost::kill && now_ >= lease_->kill_at(t)) {
    if (!stop_) stop_ = Stop{Kind::lost, Reason::expired, {}, false};
    kill_tree();
  }
  if (now_ >= lease_->reaped_by(t)) lose_lease(LostReason::expired);
}

void Run::run_limits() {
  if (phase_ == Phase::starting) return;
  if (phase_ == Phase::running && spec_.warn_after.count() > 0 && !overlong_ &&
      now_ >= started_at_ + spec_.warn_after) {
    overlong_ = true;
    log(Level::warn, "long_run",
        "the command has been running for longer than warn-after, " +
            show_duration(spec_.warn_after));
  }
  if (spec_.max_run.count() > 0 && !has_kill_time() && now_ >= started_at_ + spec_.max_run) {
    log(Level::error, "max_run", "the command ran longer than max-run and is stopped");
    stop(Kind::timed_out, Reason::max_run, now_ + spec_.kill_after);
  }
}

// KILL has a time already, or has been sent. on-lost=term alone sets none: max-run still counts.
bool Run::has_kill_time() const { return stop_ && (stop_->kill_at || stop_->killed); }

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
  if (!stuck_logged_ && now_ >= killed_at_ + spec_.timings.reap) {
    stuck_logged_ = true;
    log(Level::error, "stuck",
        "a process of the command survives SIGKILL; the lock is not released while it lives",
        {{"fence", std::to_string(fence_)}},
        "it is blocked in the kernel, or belongs to another user: run cronlatch inside sudo");
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
  if (!leased_ || lease_lost_ || in_flight_ || !renew_at_ || now_ < *renew_at_) return;
  renew_at_.reset();
  send(Renew{.lock = spec_.lock,
             .claim = {spec_.owner, attempt_},
             .identity = spec_.identity,
             .fence = fence_,
             .ttl = spec_.timings.ttl,
             .slots = spec_.slots,
             .give_up = std::min<TimePoint>(now_ + spec_.timings.op_timeout,
                                            lease_->reaped_by(spec_.timings))},
       Verb::renew);
}

void Run::on_renewed(const Event& event) {
  if (lease_lost_) return;
  const Renewed& reply = std::get<Renewed>(event);
  lease_->sent_at = std::max(lease_->sent_at, reply.sent_at);
  renew_at_ = reply.sent_at + std::chrono::duration_cast<Micros>(spec_.timings.renew_every *
                                                                 (0.9 + 0.2 * random_unit()));
  if (reply.restored)
    log(Level::error, "restored",
        "the store had lost the record of lock " + spec_.lock + "; the renewal restored it",
        {{"fence", std::to_string(fence_)}}, kKeepWrites);
  if (renew_failures_ > 0)
    log(Level::info, "renewed",
        "the lease was renewed again after " + std::to_string(renew_failures_) + " failures");
  renew_failures_ = 0;
}

void Run::on_not_holder(const Event& event) { lose_lease(std::get<NotHolder>(event).reason); }

void Run::on_renew_failed(const Event& event) {
  if (lease_lost_) return;
  const Unavailable* const failure = std::get_if<Unavailable>(&event);
  const Error error =
      failure ? failure->error
              : Error{Code::unreachable, "the request arrived too late, by the store's clock"};
  if (renew_failures_++ == 0)
    log(Level::warn, "renew_failed",
        "the renewal failed: " + error.message + "; without a renewal the command is stopped at " +
            wall(lease_->term_at(spec_.timings)),
        {{"fence", std::to_string(fence_)}}, error.hint);
  out_.push_back(CountTasks{});  // the kill may be needed, and comes earlier for a large tree
  renew_at_ = now_ + spec_.timings.retry_gap;
}

void Run::lose_lease(LostReason reason) {
  if (lease_lost_) return;
  lease_lost_ = true;
  renew_at_.reset();
  lost_reason_ = reason_of(reason);
  // The command had exited, and its background processes ran when the lease was lost.
  if (stop_ && stop_->kind == Kind::ran && spec_.on_lost != OnLost::warn) stop_->kind = Kind::lost;
  if (stop_ && stop_->kind == Kind::lost) stop_->reason = lost_reason_;
  log(Level::error, "lost",
      "the lease of lock " + spec_.lock + " is lost: " + std::string(name_of(lost_reason_)),
      {{"reason", std::string(name_of(lost_reason_))}, {"fence", std::to_string(fence_)}},
      loss_hint(reason));
  switch (spec_.on_lost) {
    case OnLost::warn:
      return;
    case OnLost::term:
      return stop(Kind::lost, lost_reason_, std::nullopt);
    case OnLost::kill:
      break;
  }
  if (reason == LostReason::revoked) {  // no other run is granted before the lease itself ends
    const TimePoint last = lease_->kill_at(spec_.timings);
    return stop(Kind::lost, lost_reason_, std::min<TimePoint>(now_ + spec_.kill_after, last));
  }
  if (!stop_) stop_ = Stop{Kind::lost, lost_reason_, {}, false};
  kill_tree();
}

}  // namespace cronlatch
