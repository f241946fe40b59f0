// SPDX-License-Identifier: Apache-2.0
// Run's frame: one event in, its handler from the table (run_table.cc), actions out; and what the
// other parts share. Handlers: run_acquire.cc and run_busy.cc (before the command starts),
// run_hold.cc (while a process lives), run_end.cc (the release).
#include "core/run.h"

#include <algorithm>
#include <csignal>

#include "base/rfc3339.h"

namespace cronlatch {
namespace {

template <class... Replies>
bool is_one_of(const Event& event, const std::variant<Replies...>*) {
  return (std::holds_alternative<Replies>(event) || ...);
}

bool is_reply(const Event& event) { return is_one_of(event, static_cast<const Reply*>(nullptr)); }

}  // namespace

Run::Run(RunSpec spec) : spec_(std::move(spec)), random_(spec_.seed) {}

std::vector<Action> Run::on(const Event& event, TimePoint now) {
  now_ = std::max(now_, now);
  if (const Handler handler = handler_of(phase_, event)) {
    if (is_reply(event)) answered_ = std::exchange(in_flight_, std::nullopt);
    (this->*handler)(event);
  }
  if (has_processes()) enforce_deadlines();
  // First: before the command starts.
  if (const auto at = kill_time(); at != kill_time_)
    out_.insert(out_.begin(), SetKillTime{kill_time_ = at});
  return std::exchange(out_, {});
}

void Run::on_tick(const Event&) {
  if (phase_ == Phase::releasing) {
    if (release_at_ && now_ >= *release_at_) send_release();
  } else if (resume_at_ && now_ >= *resume_at_) {
    send_acquire();
  }
}

bool Run::requests_termination(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT;
}

std::optional<TimePoint> Run::wake_at() const {
  std::optional<TimePoint> at;
  const auto by = [&at](std::optional<TimePoint> t) {
    if (t && (!at || *t < *at)) at = t;
  };
  if (phase_ == Phase::pausing || phase_ == Phase::retrying || phase_ == Phase::canceling)
    by(resume_at_);
  if (phase_ == Phase::releasing) by(release_at_);
  if (!has_processes()) return at;
  if (leased_ && !lease_lost_) {
    if (!in_flight_) by(renew_at_);
    if (!expiring_) by(lease_->term_at(spec_.timings));
    if (spec_.on_lost == OnLost::kill && !(stop_ && stop_->killed))
      by(lease_->kill_at(spec_.timings));
    by(lease_->reaped_by(spec_.timings));
  }
  if (phase_ == Phase::running && spec_.warn_after.count() > 0 && !overlong_)
    by(started_at_ + spec_.warn_after);
  if (phase_ != Phase::starting && spec_.max_run.count() > 0 && !has_kill_time())
    by(started_at_ + spec_.max_run);
  if (stop_ && !stop_->killed) by(stop_->kill_at);
  by(kill_again_at_);
  return at;
}

bool Run::has_processes() const {
  return phase_ == Phase::starting || phase_ == Phase::running || phase_ == Phase::lingering;
}

std::optional<TimePoint> Run::kill_time() const {
  if (!leased_ || !has_processes() || spec_.on_lost != OnLost::kill) return std::nullopt;
  return lease_->kill_at(spec_.timings);
}

void Run::send(Request request, Verb verb) {
  in_flight_ = verb;
  out_.push_back(StoreRequest{std::move(request)});
}

void Run::log(Level level, std::string event, std::string message, Fields fields,
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
