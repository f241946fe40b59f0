// SPDX-License-Identifier: Apache-2.0
// Before the command starts: acquire requests, their retries, signals. Only on_granted() and
// start_ungated() start the command. A run whose request may have been granted finishes only after
// a release, except after a second signal and at the end of the grace period.
#include <algorithm>

#include "core/error_reason.h"
#include "core/run.h"

namespace cronlatch {
namespace {

constexpr Millis kMaxBackoff{10'000};
// How long the release of an uncertain grant may delay the end; after that the lease itself ends
// it.
constexpr Millis kGiveBackPatience{1'000};
// The part of the grace period that is kept for that release and for the outcome.
constexpr Millis kCancelTime = kGiveBackPatience + Millis(1'000);

}  // namespace

void Run::on_begin(const Event&) {
  began_ = now_;
  send_acquire();
}

void Run::send_acquire() {
  if (!window_ends_) window_ends_ = now_ + spec_.connect_timeout;
  sent_if_busy_ = if_busy_now();
  phase_ = Phase::acquiring;
  resume_at_.reset();
  send(Acquire{.lock = spec_.lock,
               .claim = {spec_.owner, attempt_},
               .identity = spec_.identity,
               .ttl = spec_.timings.ttl,
               .once_ttl = spec_.once_ttl,
               .if_busy = sent_if_busy_,
               .waited = std::chrono::duration_cast<Millis>(now_ - began_),
               .min_hold = spec_.min_hold,
               .slots = spec_.slots,
               .give_up = *window_ends_},
       Verb::acquire);
}

void Run::on_granted(const Event& event) {
  const Granted& reply = std::get<Granted>(event);
  fence_ = reply.fence;
  stole_ = reply.stole;
  leased_ = reply.leased;
  lease_ = Lease{reply.sent_at};
  granted_at_ = started_at_ = now_;
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  if (leased_ && now_ >= lease_->term_at(spec_.timings)) {  // too late to start the command
    maybe_granted_ = true;
    if (now_ < *window_ends_) return send_acquire();  // the same attempt: extends the grant
    last_error_ = Error{Code::unreachable, "the grant arrived too late to use its lease"};
    return end_window();
  }
  maybe_granted_ = has_place_ = false;
  renew_at_ = reply.sent_at + std::chrono::duration_cast<Micros>(spec_.timings.renew_every *
                                                                 (0.9 + 0.2 * random_unit()));
  const std::string predecessor =
      leased_ ? "whose lease had expired" : "that ended without a release";
  log(Level::info, "acquired",
      "acquired lock " + spec_.lock + ", fence " + std::to_string(fence_) +
          (reply.stole ? " (took over from a holder " + predecessor + ")" : ""),
      {{"fence", std::to_string(fence_)}, {"stolen", reply.stole ? "true" : "false"}});
  phase_ = Phase::starting;
  out_.push_back(Launch{Program::command, fence_});
}

void Run::on_acquire_too_late(const Event& event) {
  const bool closed = std::get<TooLate>(event).closed;
  if (closed) {
    ++attempt_;
    maybe_granted_ = false;
    if (now_ < *window_ends_) return send_acquire();
  }
  retry_acquire({{Code::unreachable, "the request arrived too late, by the store's clock"},
                 /*transient=*/true,
                 /*unsent=*/true});
}

void Run::on_acquire_unavailable(const Event& event) {
  retry_acquire(std::get<Unavailable>(event));
}

// on-store-down=wait: a TLS error is retried, because it ends when the certificate is renewed.
bool Run::is_retried(const Unavailable& failure) const {
  return failure.transient ||
         (spec_.on_store_down == OnStoreDown::wait && failure.error.code == Code::tls);
}

void Run::retry_acquire(const Unavailable& failure) {
  const Error& error = failure.error;
  if (!failure.unsent) maybe_granted_ = true;
  if (!last_error_ || last_error_->message != error.message)
    log(Level::warn, "store_trouble", error.message, {}, error.hint);
  last_error_ = error;
  if (!is_retried(failure)) return finish(Kind::refused, reason_of(error.code));
  // A pause beyond the window would make the decision later than guaranteed (L1).
  const auto pause =
      std::chrono::duration_cast<Micros>(spec_.timings.retry_gap * (0.75 + 0.5 * random_unit()));
  if (now_ + pause >= *window_ends_) return end_window();
  phase_ = Phase::retrying;
  resume_at_ = now_ + pause;
}

void Run::end_window() {
  const Reason reason = reason_of(last_error_->code);
  switch (spec_.on_store_down) {
    case OnStoreDown::fail:
      return release_or_finish(Kind::store_down, reason);
    case OnStoreDown::run:
      return start_ungated();
    case OnStoreDown::wait:
      break;
  }
  const bool limited = spec_.wait_timeout.count() > 0;
  const TimePoint ends = began_ + spec_.wait_timeout;
  if (limited && now_ >= ends) return release_or_finish(Kind::store_down, reason);
  backoff_ = std::clamp(backoff_ * 2, Millis(1'000), kMaxBackoff);
  phase_ = Phase::retrying;
  resume_at_ = now_ + std::chrono::duration_cast<Micros>(backoff_ * (0.75 + 0.5 * random_unit()));
  if (limited) resume_at_ = std::min(*resume_at_, ends);
  window_ends_.reset();  // the next request has a window of its own
}

void Run::start_ungated() {
  ungated_ = true;
  leased_ = false;
  granted_at_ = started_at_ = now_;
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  log(Level::warn, "ungated",
      "the store is unavailable and on-store-down is run: the command runs WITHOUT lock " +
          spec_.lock);
  phase_ = Phase::starting;
  out_.push_back(Launch{Program::command, 0});
}

// Other signals are for a command that has not been started.
void Run::on_signal_before_start(const Event& event) {
  const int signo = std::get<SignalArrived>(event).signo;
  if (!requests_termination(signo)) return;
  // A second signal ends the run at once; a lease that may have been granted ends by itself.
  if (cancel_signo_ != 0) return finish(Kind::interrupted, Reason::signal);
  cancel_signo_ = signo;
  if (phase_ == Phase::acquiring) {
    phase_ = Phase::canceling;
    resume_at_ = now_ + std::max(spec_.grace_period - kCancelTime, Millis(0));
    return;
  }
  release_or_finish(Kind::interrupted, Reason::signal);
}

void Run::on_canceled_acquire(const Event& event) {
  if (const Granted* grant = std::get_if<Granted>(&event)) {
    fence_ = grant->fence;
    maybe_granted_ = true;
  } else if (const Unavailable* failure = std::get_if<Unavailable>(&event)) {
    maybe_granted_ = maybe_granted_ || !failure->unsent;
  } else if (const Busy* busy = std::get_if<Busy>(&event)) {
    has_place_ = busy->ahead.has_value();
  }
  release_or_finish(Kind::interrupted, Reason::signal);
}

// SIGKILL from outside would leave no outcome.
void Run::on_cancel_overdue(const Event&) {
  if (!resume_at_ || now_ < *resume_at_) return;
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  log(Level::warn, "release_failed",
      "the store did not reply within grace-period; if it still grants lock " + spec_.lock +
          ", that lease ends by itself");
  finish(Kind::interrupted, Reason::signal);
}

void Run::on_woken(const Event&) { send_acquire(); }

void Run::release_or_finish(Kind kind, Reason reason) {
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  // The next run that waits need not wait for the end of this run's reservation (Q7).
  const bool leaves_queue = has_place_ && kind == Kind::interrupted;
  if (!maybe_granted_ && !leaves_queue) return finish(kind, reason);
  start_release(RunVerdict::given_back, kind, reason, kGiveBackPatience);
}

}  // namespace cronlatch
