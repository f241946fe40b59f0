// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/tick_window.h"

#include <string>

namespace cronlatch::op {

TickWindow::TickWindow(const kube::Json& cronjob) {
  if (kube::is_true(cronjob, {"spec", "suspend"})) {
    times_ = Times::none;
    return;
  }
  const auto schedule = parse_cron(kube::string_at(cronjob, {"spec", "schedule"}));
  if (!schedule || schedule->every) return;
  const std::string zone_name = kube::string_at(cronjob, {"spec", "timeZone"});
  const auto zone =
      find_zone(zone_name.empty() ? schedule->zone : zone_name, {"/usr/share/zoneinfo"});
  if (!zone) return;
  times_ = Times::by_schedule;
  schedule_ = *schedule;
  zone_ = *zone;
}

bool TickWindow::is_near(WallTime now, Millis lead) {
  if (times_ != Times::by_schedule) return times_ == Times::unknown;
  if (!is_computed_ || (next_ && next_->us <= now.us)) next_ = next_run(schedule_, zone_, now);
  is_computed_ = true;
  return next_ && next_->us - now.us <= Micros(lead).count();
}

}  // namespace cronlatch::op
