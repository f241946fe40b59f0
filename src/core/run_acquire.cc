// SPDX-License-Identifier: Apache-2.0
// Before the command starts: asking, waiting, store trouble, signals. Nothing here may start the
// command but granted() and start_ungated(), and nothing may finish while the store may still
// believe that the lock is ours without giving it back.
#include <algorithm>

#include "core/run.h"

namespace cronlatch {
namespace {

// While waiting, a lock that was released early is noticed within this time and a tenth. It is
// below 1 s because a takeover may take one pause longer than a lease (L2): after a backward step
// of the store's clock the next question starts the rest of the lease anew (L7).
constexpr Millis kLongestPause{800};
// A busy answer that names no end (the file store) is asked again this soon.
constexpr Millis kBlindPause{250};
constexpr Millis kShortestPause{10};
constexpr Millis kLongestBackoff{10'000};
// How long giving back an uncertain grant may delay the end; after that the lease itself ends it.
constexpr Millis kGiveBackPatience{1'000};

Reason reason_of(Code code) {
  switch (code) {
    case Code::auth:
      return Reason::auth;
    case Code::acl:
      return Reason::acl;
    case Code::tls:
      return Reason::tls;
    case Code::config:
    case Code::usage:
      return Reason::config;
    case Code::unreachable:
    case Code::system:
    case Code::bug:
    case Code::exec_denied:
    case Code::exec_missing:
      return Reason::unreachable;
  }
  return Reason::unreachable;
}

}  // namespace

// Waiting is what the user asked for, or what a retry of a group that has run before must do: its
// skip would pass for success.
bool Run::waits() const { return spec_.on_busy == OnBusy::wait || group_granted_; }

std::optional<TimePoint> Run::wait_ends() const {
  std::optional<TimePoint> end;
  if (spec_.wait_timeout.count() > 0) end = began_ + spec_.wait_timeout;
  if (spec_.on_busy != OnBusy::wait && group_granted_) {
    const TimePoint cap = began_ + 2 * spec_.timings.ttl;
    end = end ? std::min(*end, cap) : cap;
  }
  return end;
}

IfBusy Run::how_to_count_busy() const {
  if (waits()) {
    const std::optional<TimePoint> ends = wait_ends();
    return ends && now_ >= *ends ? IfBusy::timed_out : IfBusy::wait;
  }
  return spec_.on_busy == OnBusy::fail ? IfBusy::fail : IfBusy::skip;
}

void Run::ask_acquire() {
  if (!window_ends_) window_ends_ = now_ + spec_.connect_timeout;
  asked_if_busy_ = how_to_count_busy();
  phase_ = Phase::acquiring;
  resume_at_.reset();
  send(Acquire{.lock = spec_.lock,
               .claim = {spec_.owner, attempt_},
               .identity = spec_.identity,
               .ttl = spec_.timings.ttl,
               .once_ttl = spec_.once_ttl,
               .if_busy = asked_if_busy_,
               .waited = std::chrono::duration_cast<Millis>(now_ - began_),
               .min_hold = spec_.min_hold,
               .slots = spec_.slots,
               .give_up = *window_ends_},
       Verb::acquire);
}

void Run::granted(const Granted& reply) {
  fence_ = reply.fence;
  stole_ = reply.stole;
  leased_ = reply.leased;
  lease_ = Lease{reply.sent_at};
  granted_at_ = started_at_ = now_;
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  if (leased_ &&
      now_ >= lease_->term_at(spec_.timings)) {  // the answer took too long to be worth a start
    maybe_granted_ = true;
    if (now_ < *window_ends_) return ask_acquire();  // the same attempt: extends what we have
    last_error_ = Error{Code::unreachable, "the store answered too late to use the lease"};
    return give_back_or_finish(Kind::store_down, Reason::unreachable);
  }
  maybe_granted_ = false;
  renew_at_ = reply.sent_at + std::chrono::duration_cast<Micros>(spec_.timings.renew_every *
                                                                 (0.9 + 0.2 * random_unit()));
  say(Level::info, "acquired",
      "acquired lock " + spec_.lock + ", fence " + std::to_string(fence_) +
          (reply.stole ? " (its last holder's lease had expired)" : ""),
      {{"fence", std::to_string(fence_)}, {"stolen", reply.stole ? "true" : "false"}});
  phase_ = Phase::starting;
  out_.push_back(Launch{Program::command, fence_});
}

void Run::busy(const Busy& reply) {
  const bool first = last_busy_.holder.empty();
  const bool told = !first && last_busy_.fence == reply.fence;
  last_busy_ = reply;
  group_granted_ = group_granted_ || reply.group_granted;
  maybe_granted_ = false;
  window_ends_.reset();  // the store has answered: the next question has a window of its own
  if (reply.reason == BusyReason::done) return skip(Kind::skipped, Reason::done);
  if (asked_if_busy_ == IfBusy::timed_out) return skip(Kind::busy, Reason::wait_timeout);
  if (!waits()) {
    if (spec_.on_busy == OnBusy::skip) return skip(Kind::skipped, Reason::held);
    return skip(Kind::busy, Reason::held);
  }
  if (!told)
    say(Level::info, "waiting", "waiting for lock " + spec_.lock + ", held by " + reply.holder,
        {{"holder", reply.holder}, {"fence", std::to_string(reply.fence)}});
  pause(reply);
}

void Run::pause(const Busy& reply) {
  Micros base =
      reply.remaining.count() > 0 ? std::min<Micros>(reply.remaining, kLongestPause) : kBlindPause;
  base = std::max<Micros>(base, kShortestPause);
  const auto jitter = std::chrono::duration_cast<Micros>((base / 10 + Millis(20)) * random_unit());
  resume_at_ = now_ + base + jitter;
  if (const auto ends = wait_ends()) resume_at_ = std::min(*resume_at_, std::max(*ends, now_));
  phase_ = Phase::pausing;
}

// The end of a run that did not get the lock, said with who has it, since when, until when.
void Run::skip(Kind kind, Reason reason) {
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  final_kind_ = kind;
  final_reason_ = reason;
  const Busy& b = last_busy_;
  Fields fields{{"reason", std::string(name_of(reason))}};
  std::string text(name_of(kind));
  if (reason == Reason::done) {
    text += ": " + spec_.identity.once + " is done already";
    fields.push_back({"once_per", spec_.identity.once});
  } else {
    const std::string since = wall(now_ - b.held_for), until = wall(now_ + b.remaining);
    held_since_ = wall_time(now_ - b.held_for);
    const bool cooling = b.reason == BusyReason::cooling;
    if (reason == Reason::wait_timeout)
      text += ": waited " + std::to_string(waited_.count()) + " ms, but lock ";
    else
      text += ": lock ";
    text += spec_.lock + (cooling ? " stays closed after the run of " : " is held by ") + b.holder;
    text += (cooling ? ", acquired " : " since ") + since + ", fence " + std::to_string(b.fence);
    fields.insert(fields.end(),
                  {{"holder", b.holder}, {"since", since}, {"fence", std::to_string(b.fence)}});
    if (b.remaining.count() > 0) {
      text += cooling ? ", until " + until + " (min-hold)" : ", lease until " + until;
      fields.push_back({"until", until});
      held_until_ = wall_time(now_ + b.remaining);
    }
  }
  say(Level::info, std::string(name_of(kind)), text, std::move(fields));
  if (kind == Kind::skipped && spec_.has_skip_command) {
    phase_ = Phase::skipping;
    out_.push_back(Launch{Program::skip_command, 0});
    return;
  }
  finish(kind, reason);
}

void Run::ask_again(const TooLate& stale) {
  if (stale.closed) {
    ++attempt_;
    maybe_granted_ = false;
  }
  if (stale.closed && now_ < *window_ends_) return ask_acquire();
  store_trouble(Unavailable{
      {Code::unreachable, "the store's clock says that the question came too late"}, true, true});
}

// on-store-down=wait: a certificate that has expired, or is another server's, is an outage that
// ends when it is renewed.
bool Run::is_waited_out(const Unavailable& down) const {
  return down.transient ||
         (spec_.on_store_down == OnStoreDown::wait && down.error.code == Code::tls);
}

void Run::store_trouble(const Unavailable& down) {
  if (!down.unsent) maybe_granted_ = true;
  if (!last_error_ || last_error_->message != down.error.message)
    say(Level::warn, "store_trouble", down.error.message, {}, down.error.hint);
  last_error_ = down.error;
  if (!is_waited_out(down)) return finish(Kind::refused, reason_of(down.error.code));
  // A pause that ended behind the window would make the decision later than it was promised (L1).
  const auto pause =
      std::chrono::duration_cast<Micros>(spec_.timings.retry_gap * (0.75 + 0.5 * random_unit()));
  if (now_ + pause >= *window_ends_) return store_gave_up();
  phase_ = Phase::retrying;
  resume_at_ = now_ + pause;
}

void Run::store_gave_up() {
  const Reason reason = reason_of(last_error_->code);
  switch (spec_.on_store_down) {
    case OnStoreDown::fail:
      return give_back_or_finish(Kind::store_down, reason);
    case OnStoreDown::run:
      return start_ungated();
    case OnStoreDown::wait:
      break;
  }
  const bool limited = spec_.wait_timeout.count() > 0;
  const TimePoint ends = began_ + spec_.wait_timeout;
  if (limited && now_ >= ends) return give_back_or_finish(Kind::store_down, reason);
  backoff_ = std::clamp(backoff_ * 2, Millis(1'000), kLongestBackoff);
  phase_ = Phase::retrying;
  resume_at_ = now_ + std::chrono::duration_cast<Micros>(backoff_ * (0.75 + 0.5 * random_unit()));
  if (limited) resume_at_ = std::min(*resume_at_, ends);
  window_ends_.reset();  // the next question has a window of its own
}

void Run::start_ungated() {
  ungated_ = true;
  leased_ = false;
  granted_at_ = started_at_ = now_;
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  say(Level::warn, "ungated",
      "the store is down: running WITHOUT the lock " + spec_.lock + ", as on-store-down=run says");
  phase_ = Phase::starting;
  out_.push_back(Launch{Program::command, 0});
}

// Everything but a request to end is for a command that does not exist yet.
void Run::signal_before_start(int signo) {
  if (!asks_for_the_end(signo)) return;
  const bool again = cancel_signo_ != 0;
  if (!again) cancel_signo_ = signo;
  if (again)
    return finish(Kind::interrupted,
                  Reason::signal);  // in a hurry: the lease ends what may be granted
  if (phase_ == Phase::acquiring) {
    phase_ = Phase::cancelling;
    return;
  }
  give_back_or_finish(Kind::interrupted, Reason::signal);
}

void Run::give_back_or_finish(Kind kind, Reason reason) {
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  if (!maybe_granted_) return finish(kind, reason);
  let_go(RunVerdict::given_back, kind, reason, kGiveBackPatience);
}

}  // namespace cronlatch
