// SPDX-License-Identifier: Apache-2.0
// Run's frame: one event in, its answer looked up in the table (run_table.cc), actions out; and the
// answers that are short. Longer ones: run_acquire.cc (before the command starts), run_hold.cc
// (while anything lives), run_end.cc (giving back).
#include "core/run.h"

#include <algorithm>
#include <csignal>

#include "base/rfc3339.h"

namespace cronlatch {

Run::Run(RunSpec spec) : spec_(std::move(spec)), random_(spec_.seed) {}

std::vector<Action> Run::on(const Event& event, TimePoint now) {
  now_ = std::max(now_, now);
  if (const Answer answer = answer_to(phase_, event)) (this->*answer)(event);
  if (anything_lives()) watch_over();
  return std::exchange(out_, {});
}

void Run::ask(const Event&) {
  began_ = now_;
  ask_acquire();
}

void Run::resume(const Event&) {
  if (phase_ == Phase::releasing) {
    if (release_at_ && now_ >= *release_at_) ask_release();
  } else if (resume_at_ && now_ >= *resume_at_) {
    ask_acquire();
  }
}

void Run::take_grant(const Event& e) {
  in_flight_.reset();
  granted(std::get<Granted>(e));
}

void Run::take_busy(const Event& e) {
  in_flight_.reset();
  busy(std::get<Busy>(e));
}

void Run::take_stale(const Event& e) {
  in_flight_.reset();
  ask_again(std::get<TooLate>(e));
}

void Run::take_trouble(const Event& e) {
  in_flight_.reset();
  store_trouble(std::get<Unavailable>(e));
}

void Run::undo_grant(const Event& e) {
  in_flight_.reset();
  fence_ = std::get<Granted>(e).fence;
  maybe_granted_ = true;
  give_back_or_finish(Kind::interrupted, Reason::signal);
}

void Run::undo_nothing(const Event&) {
  in_flight_.reset();
  maybe_granted_ = false;
  give_back_or_finish(Kind::interrupted, Reason::signal);
}

void Run::undo_maybe(const Event& e) {
  in_flight_.reset();
  const Unavailable* down = std::get_if<Unavailable>(&e);
  if (down && !down->unsent) maybe_granted_ = true;
  give_back_or_finish(Kind::interrupted, Reason::signal);
}

void Run::take_kept(const Event& e) {
  in_flight_.reset();
  kept(std::get<Renewed>(e));
}

void Run::take_lost(const Event& e) {
  in_flight_.reset();
  lease_lost(std::get<NotHolder>(e).reason);
}

void Run::take_late(const Event&) {
  in_flight_.reset();
  renew_failed({Code::unreachable, "the store's clock says that the renewal came too late"});
}

void Run::take_down(const Event& e) {
  in_flight_.reset();
  renew_failed(std::get<Unavailable>(e).error);
}

void Run::take_started(const Event&) {
  phase_ = Phase::running;
  started_at_ = now_;
}

void Run::take_cannot_start(const Event& e) { cannot_start(std::get<CannotStart>(e).error); }
void Run::take_exit(const Event& e) { child_exited(std::get<ChildExited>(e)); }
void Run::take_empty(const Event&) { everything_ended(); }

// Kept, NotHolder or Freed while releasing: the end, unless it answers a renewal that was asked
// before the command ended.
void Run::take_released(const Event& e) {
  if (std::exchange(in_flight_, std::nullopt) == Verb::renew) return ask_release();
  mark_missing_ = false;
  const bool exited = verdict_ == RunVerdict::succeeded || verdict_ == RunVerdict::failed;
  if (std::holds_alternative<NotHolder>(e) && exited)
    say(Level::warn, "release_not_ours",
        "lock " + spec_.lock + " was not ours any more when it was released");
  finish(final_kind_, final_reason_);
}

void Run::take_unreleased(const Event& e) {
  if (std::exchange(in_flight_, std::nullopt) == Verb::renew) return ask_release();
  if (const Unavailable* down = std::get_if<Unavailable>(&e)) return release_failed(down->error);
  if (std::get<TooLate>(e).closed) return finish(final_kind_, final_reason_);
  release_failed({Code::unreachable, "the store's clock says that the release came too late"});
}

void Run::end_skip(const Event& e) {
  if (const CannotStart* failed = std::get_if<CannotStart>(&e)) {
    say(Level::warn, "skip_command_failed", "skip-command: " + failed->error.message, {},
        failed->error.hint);
  } else {
    const std::string code = std::to_string(std::get<ChildExited>(e).code);
    say(Level::info, "skip_command_ended", "skip-command ended with exit code " + code,
        {{"exit_code", code}});
  }
  finish(final_kind_, final_reason_);
}

void Run::cancel(const Event& e) { signal_before_start(std::get<SignalArrived>(e).signo); }

bool Run::asks_for_the_end(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT;
}

void Run::forward(const Event& e) {
  if (anything_lives())
    watch_over();  // SIGCONT after a long stop: the lease is looked at before the command goes on
  const int signo = std::get<SignalArrived>(e).signo;
  if (asks_for_the_end(signo) && !terminated_at_) terminated_at_ = now_;
  // The group is the command's. When the command has ended, all that is left is meant.
  out_.push_back(SendSignal{signo, phase_ == Phase::lingering ? Target::tree : Target::group});
}

// While the lock is released: the time for the mark ends with the grace period, a second signal
// ends it at once.
void Run::hurry(const Event& e) {
  if (!has_mark() || !asks_for_the_end(std::get<SignalArrived>(e).signo)) return;
  const bool again = std::exchange(terminated_at_, terminated_at_.value_or(now_)).has_value();
  release_ends_ = again ? now_ : std::min(release_ends_, mark_ends(now_));
}

std::optional<TimePoint> Run::wake_at() const {
  std::optional<TimePoint> at;
  const auto by = [&at](std::optional<TimePoint> t) {
    if (t && (!at || *t < *at)) at = t;
  };
  if (phase_ == Phase::pausing || phase_ == Phase::retrying) by(resume_at_);
  if (phase_ == Phase::releasing) by(release_at_);
  if (!anything_lives()) return at;
  if (leased_ && !lease_gone_) {
    if (!in_flight_) by(renew_at_);
    if (!expiring_) by(lease_->term_at(spec_.timings));
    if (spec_.on_lost == OnLost::kill && !(stop_ && stop_->killed))
      by(lease_->kill_at(spec_.timings));
    by(lease_->reaped_by(spec_.timings));
  }
  if (phase_ == Phase::running && spec_.warn_after.count() > 0 && !overlong_)
    by(started_at_ + spec_.warn_after);
  if (phase_ != Phase::starting && spec_.max_run.count() > 0 && !is_stopping_for_good())
    by(started_at_ + spec_.max_run);
  if (stop_ && !stop_->killed) by(stop_->kill_at);
  by(kill_again_at_);
  return at;
}

bool Run::anything_lives() const {
  return phase_ == Phase::starting || phase_ == Phase::running || phase_ == Phase::lingering;
}

void Run::send(Request request, Verb verb) {
  in_flight_ = verb;
  out_.push_back(StoreRequest{std::move(request)});
}

void Run::say(Level level, std::string event, std::string message, Fields fields,
              std::string hint) {
  fields.insert(fields.begin(), {"lock", spec_.lock});
  out_.push_back(
      LogLine{level, std::move(event), std::move(message), std::move(fields), std::move(hint)});
}

WallTime Run::wall_time(TimePoint t) const {
  return {(t.time_since_epoch() + spec_.wall_minus_boot).count()};
}

std::string Run::wall(TimePoint t) const { return rfc3339(wall_time(t)); }

// splitmix64 (Steele, Lea, Flood 2014): jitter needs neither quality nor secrecy, only a seed that
// replays.
double Run::random_unit() {
  std::uint64_t z = (random_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace cronlatch
