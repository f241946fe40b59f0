// SPDX-License-Identifier: Apache-2.0
// Busy replies: wait for the lock, or finish without it.
#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "core/outcome_text.h"
#include "core/run.h"

namespace cronlatch {
namespace {

// The first run that waits, and each one in a store without a queue, notices a release within this
// time and a tenth. It is below 1 s because a takeover may take one pause longer than a lease (L2):
// after a backward step of the store's clock the next request starts the rest of the lease anew
// (L7).
constexpr Millis kMaxPause{800};
// Of the other runs in a queue, within 10 %. Their place is dead after 6 s without a request.
constexpr Millis kQueuePause{2'000};
// After the end of a lease or of a reservation.
constexpr Millis kAfterEnd{50};
// The pause after a busy reply without a remaining time (the file store).
constexpr Millis kDefaultPause{250};
constexpr Millis kMinPause{10};
// The remaining time is exact, unless another failover follows.
constexpr Millis kMaxQuarantinePause{5'000};

std::string place_text(std::uint32_t ahead) {
  if (ahead == 0) return "; this run is next";
  if (ahead == 1) return "; 1 run before this one";
  return (ahead < kMaxAhead ? "; " : "; at least ") + std::to_string(ahead) +
         " runs before this one";
}

}  // namespace

// A retry of an attempt group that was granted before waits as well: a skip would report success.
bool Run::is_waiting_for_lock() const { return spec_.on_busy == OnBusy::wait || group_granted_; }

std::optional<TimePoint> Run::wait_ends() const {
  std::optional<TimePoint> end;
  if (spec_.wait_timeout.count() > 0) end = began_ + spec_.wait_timeout;
  if (spec_.on_busy != OnBusy::wait && group_granted_) {
    const TimePoint cap = began_ + 2 * spec_.timings.ttl;
    end = end ? std::min(*end, cap) : cap;
  }
  return end;
}

IfBusy Run::if_busy_now() const {
  if (is_waiting_for_lock()) {
    const std::optional<TimePoint> ends = wait_ends();
    return ends && now_ >= *ends ? IfBusy::timed_out : IfBusy::wait;
  }
  return spec_.on_busy == OnBusy::fail ? IfBusy::fail : IfBusy::skip;
}

void Run::on_busy(const Event& event) {
  const Busy& reply = std::get<Busy>(event);
  last_busy_ = reply;
  has_place_ = reply.ahead.has_value();
  group_granted_ = group_granted_ || reply.group_granted;
  // maybe_granted_ stays: the store does not record a busy reply to a run that waits, so that a
  // delayed earlier request can still be granted.
  window_ends_.reset();  // the store has replied: the next request has a window of its own
  if (reply.reason == BusyReason::done) return finish_without_lock(Kind::skipped, Reason::done);
  if (sent_if_busy_ == IfBusy::timed_out)
    return finish_without_lock(Kind::busy, Reason::wait_timeout);
  if (!is_waiting_for_lock())
    return finish_without_lock(spec_.on_busy == OnBusy::skip ? Kind::skipped : Kind::busy,
                               Reason::held);
  log_waiting(reply);
  pause(reply);
}

// Not busy: the run waits, whatever on-busy and on-store-down are.
void Run::on_quarantined(const Event& event) {
  const Micros remaining = std::get<Quarantined>(event).remaining;
  window_ends_.reset();  // the store has replied: the next request has a window of its own
  last_error_ =
      Error{Code::unreachable,
            "the store may have lost grants in a failover or a restart; strict: it grants "
            "nothing until their leases have ended, at " +
                wall(now_ + remaining),
            "no action needed; docs/stores.md lists the causes"};
  if (!std::exchange(quarantine_logged_, true))
    log(Level::warn, "quarantine", last_error_->message, {{"until", wall(now_ + remaining)}},
        last_error_->hint);
  const std::optional<TimePoint> ends =
      spec_.wait_timeout.count() > 0 ? std::optional(began_ + spec_.wait_timeout) : std::nullopt;
  if (ends && now_ >= *ends) return release_or_finish(Kind::store_down, Reason::quarantine);
  const Micros base = std::clamp<Micros>(remaining, kMinPause, kMaxQuarantinePause);
  resume_at_ = now_ + base + std::chrono::duration_cast<Micros>((base / 10) * random_unit());
  if (ends) resume_at_ = std::min(*resume_at_, *ends);
  phase_ = Phase::pausing;
}

// One line for each holder. With several slots the replies name the holder whose lease ends first,
// which changes with each renewal: only a later grant has a line of its own.
void Run::log_waiting(const Busy& reply) {
  const bool is_free = reply.reason == BusyReason::queued;
  // Another program's grant has no fence.
  const bool is_logged =
      waited_for_ && (reply.fence == 0 ? *waited_for_ == 0 : reply.fence <= *waited_for_);
  if (is_logged || (waited_for_ && is_free)) return;
  waited_for_ = reply.fence;
  std::string why = is_free ? ", which is reserved for another run" : ", held by " + reply.holder;
  if (reply.reason == BusyReason::cooling)
    why = ", which min-hold keeps closed" +
          (reply.remaining.count() > 0 ? " until " + wall(now_ + reply.remaining) : "");
  const std::string place = reply.ahead ? place_text(*reply.ahead) : "";
  Fields fields{{"holder", reply.holder}, {"fence", std::to_string(reply.fence)}};
  if (reply.ahead) fields.push_back({"runs_before", std::to_string(*reply.ahead)});
  log(Level::info, "waiting", "waiting for lock " + spec_.lock + why + place, std::move(fields));
}

void Run::pause(const Busy& reply) {
  const bool is_first = !reply.ahead || *reply.ahead == 0;
  const double random = random_unit();
  const auto part_of = [random](Micros d) {
    return std::chrono::duration_cast<Micros>(d * random);
  };
  Micros pause =
      std::max<Micros>(reply.remaining + (reply.ahead ? kAfterEnd : Millis(0)), kMinPause);
  if (reply.remaining.count() == 0) pause = kDefaultPause;
  if (is_first) {
    pause = std::min<Micros>(pause, kMaxPause);
    pause += part_of(pause / 10 + Millis(20));
  } else {
    pause = std::min(pause, kQueuePause * 9 / 10 + part_of(kQueuePause / 5));
  }
  resume_at_ = now_ + pause;
  if (const auto ends = wait_ends()) resume_at_ = std::min(*resume_at_, std::max(*ends, now_));
  phase_ = Phase::pausing;
  if (reply.ahead) out_.push_back(Listen{spec_.lock, spec_.owner, *resume_at_});
}

// Also sets the holder's lease of the outcome.
std::string Run::explain_busy(Kind kind, Reason reason) {
  if (reason == Reason::done) return outcome_summary(kind, reason) + ": " + spec_.identity.once;
  const Busy& b = last_busy_;
  if (b.reason == BusyReason::queued)
    return (kind == Kind::skipped            ? "skipped because"
            : reason == Reason::wait_timeout ? outcome_summary(kind, reason) + ";"
                                             : "not started because") +
           std::string(" other runs wait for lock ") + spec_.lock;
  // Another program's grant has no fence, and no known time.
  const bool is_granted = b.fence != 0;
  if (is_granted) held_since_ = wall_time(now_ - b.held_for);
  if (b.remaining.count() > 0) held_until_ = wall_time(now_ + b.remaining);
  const std::string since = is_granted ? wall(now_ - b.held_for) : "";
  const std::string until = held_until_ ? wall(now_ + b.remaining) : "";
  const std::string fence = is_granted ? "; fence " + std::to_string(b.fence) : "";
  if (b.reason == BusyReason::cooling) {
    std::string text = kind == Kind::skipped ? "skipped because" : "not started because";
    if (reason == Reason::wait_timeout)
      text = outcome_summary(kind, reason) + " after " + rounded_duration(waited_) + ";";
    return text + " min-hold keeps lock " + spec_.lock + " closed" +
           (until.empty() ? "" : " until " + until) + "; last holder " + b.holder + " since " +
           since + fence;
  }
  return outcome_sentence({.kind = kind,
                           .reason = reason,
                           .lock = spec_.lock,
                           .holder = b.holder,
                           .fence = is_granted ? std::to_string(b.fence) : "",
                           .since = since,
                           .until = until,
                           .waited = waited_,
                           .held = {},
                           .exit_code = 0}) +
         fence;
}

void Run::finish_without_lock(Kind kind, Reason reason) {
  waited_ = std::chrono::duration_cast<Millis>(now_ - began_);
  final_kind_ = kind;
  final_reason_ = reason;
  const std::string text = explain_busy(kind, reason);
  Fields fields{{"reason", std::string(name_of(reason))}};
  if (reason == Reason::done) {
    fields.push_back({"once_per", spec_.identity.once});
  } else if (last_busy_.reason != BusyReason::queued) {
    fields.push_back({"holder", last_busy_.holder});
    if (last_busy_.fence != 0)
      fields.insert(fields.end(), {{"since", wall(now_ - last_busy_.held_for)},
                                   {"fence", std::to_string(last_busy_.fence)}});
    if (held_until_) fields.push_back({"until", wall(now_ + last_busy_.remaining)});
  }
  log(Level::info, std::string(name_of(kind)), text, std::move(fields));
  if (kind == Kind::skipped && spec_.has_skip_command) {
    phase_ = Phase::skipping;
    out_.push_back(Launch{Program::skip_command, 0});
    return;
  }
  finish(kind, reason);
}

}  // namespace cronlatch
