// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/success_deadline.h"

#include <algorithm>
#include <utility>

namespace cronlatch::op {
namespace {

constexpr std::int64_t kMillis = 1'000;  // microseconds

// Of a zone that this machine does not know, a schedule is evaluated in UTC. The clocks of no zone
// differ from UTC by more.
constexpr std::int64_t kUnknownZone = std::int64_t{24} * 3'600 * 1'000'000;

}  // namespace

ZoneSource system_zones() {
  return [](const std::string& name) { return find_zone(name, {"/usr/share/zoneinfo"}); };
}

std::shared_ptr<const Zone> Zones::find(const std::string& name) {
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  Result<Zone> read = source_(name);
  auto zone = read ? std::make_shared<const Zone>(std::move(read).value()) : nullptr;
  known_.emplace(name, zone);
  return zone;
}

SuccessDeadline::SuccessDeadline(const GatedCronJob& facts, WallTime from, Zones& zones)
    : from_(std::max({from, facts.created, facts.resumed, facts.gated})),
      applies_(!facts.schedule.empty()),
      alert_after_(facts.alert_after) {
  Result<CronSchedule> schedule = parse_cron(facts.schedule);
  if (!schedule) return;  // empty; the API server accepts no invalid one
  schedule_ = std::move(schedule).value();
  zone_ = zones.find(facts.time_zone.empty() ? schedule_->zone : facts.time_zone);
}

std::optional<WallTime> SuccessDeadline::second_run_after(WallTime start) const {
  static const Zone kUtc;
  const Zone& zone = zone_ == nullptr ? kUtc : *zone_;
  const auto first = next_run(*schedule_, zone, start);
  auto second = first ? next_run(*schedule_, zone, *first) : std::nullopt;
  if (second && zone_ == nullptr) second->us += kUnknownZone;
  return second;
}

std::optional<WallTime> SuccessDeadline::after(WallTime since, Millis usual_run) {
  if (!applies_) return std::nullopt;
  const WallTime start = std::max(since, from_);
  if (alert_after_.count() > 0) return WallTime{start.us + alert_after_.count() * kMillis};
  if (!schedule_) return std::nullopt;
  if (start != start_) {
    start_ = start;
    second_run_ = second_run_after(start);
  }
  if (!second_run_) return std::nullopt;
  return WallTime{second_run_->us + usual_run.count() * kMillis};
}

}  // namespace cronlatch::op
