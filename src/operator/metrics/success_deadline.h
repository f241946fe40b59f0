// SPDX-License-Identifier: Apache-2.0
// SuccessDeadline: the time at which a CronJob is overdue. Without the annotation alert-after that
// is when it missed two scheduled times and the usual duration of a run has passed. Scheduled times
// are those of the CronJob controller: in the time zone of the CronJob, with the changes of its
// clocks. No file is read after the construction; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cron/cron_schedule.h"
#include "cron/time_zone.h"
#include "operator/metrics/gated_cronjob.h"

namespace cronlatch::op {

// Reads a zone by its name.
using ZoneSource = std::function<Result<Zone>(const std::string&)>;
// From /usr/share/zoneinfo, which is part of the operator's image.
ZoneSource system_zones();

// The zones in use, each read once. One thread.
class Zones {
 public:
  explicit Zones(ZoneSource source) : source_(std::move(source)) {}
  std::shared_ptr<const Zone> find(const std::string& name);  // nullptr: unknown

 private:
  const ZoneSource source_;
  std::map<std::string, std::shared_ptr<const Zone>> known_;
};

class SuccessDeadline {
 public:
  // `from`: the first time that counts. A change of the schedule and the end of a suspension can be
  // later than the last success; so can the creation, of a CronJob that was created again, and the
  // annotation, of one that existed without it.
  SuccessDeadline(const GatedCronJob& facts, WallTime from, Zones& zones);

  // Of a CronJob whose last success (without one: whose creation) was at `since`. `usual_run`: the
  // 95th percentile of the duration of its runs. Nothing: never overdue.
  std::optional<WallTime> after(WallTime since, Millis usual_run);

 private:
  std::optional<WallTime> second_run_after(WallTime start) const;

  WallTime from_;
  bool applies_;
  Millis alert_after_;
  std::optional<CronSchedule> schedule_;
  std::shared_ptr<const Zone> zone_;  // nullptr: unknown
  // The last result of second_run_after: the search costs more than all else of a scrape.
  std::optional<WallTime> start_;
  std::optional<WallTime> second_run_;
};

}  // namespace cronlatch::op
