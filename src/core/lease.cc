// SPDX-License-Identifier: Apache-2.0
#include "core/lease.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/timing_rule.h"

namespace cronlatch {
namespace {

// docs/guarantees.md: margin = 1 % of the lease for clock rates, 0.5 s for a forward step of the
// store's clock, 0.2 s for us.
constexpr Millis kWallStep{500};
constexpr Millis kScheduling{200};
// 1 s for an ordinary tree, and from 6,700 processes or threads 120 us for each: 30 to 45 us of the
// kernel to end it, and three passes through /proc (TERM, CONT, KILL) of about 20 us each.
// `TreeKill.ReapsACrowdNearlyAsFastAsTheKernelEndsIt` prints the measured time.
constexpr Millis kReap{1'000};
constexpr Millis kReapBase{200};
constexpr Micros kReapPerTask{120};
constexpr const TimingRule& kRule = kTimingRule;

Millis room_for_grace(const Timings& t) {
  return t.ttl - t.renew_every * kRule.renew_percent / 100 - t.op_timeout - t.retry_gap - t.reap -
         t.margin;
}

Timings timings_for(Millis ttl, const TimingOptions& options) {
  Timings t;
  t.ttl = ttl;
  t.renew_every =
      options.renew_every.value_or(std::min(ttl / kRule.renew_share, kRule.longest_renew));
  t.op_timeout = options.op_timeout.value_or(std::min(ttl / kRule.op_share, kRule.longest_op));
  t.retry_gap = std::clamp(ttl / kRule.gap_share, kRule.least_gap, kRule.longest_gap);
  t.margin = lease_margin(ttl);
  t.reap = reap_time(0);
  t.grace = std::min({options.kill_after, ttl / kRule.grace_share, room_for_grace(t)});
  return t;
}

// The smallest lease in whole seconds for which the options hold, or zero.
Millis smallest_ttl(const TimingOptions& options) {
  for (Millis ttl = kMinTtl; ttl <= kMaxTtl; ttl += Millis(1'000))
    if (room_for_grace(timings_for(ttl, options)) >= kRule.least_grace) return ttl;
  return Millis(0);
}

std::string seconds(Millis d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1fs", static_cast<double>(d.count()) / 1000.0);
  return text;
}

}  // namespace

Millis Timings::outage_tolerance() const {
  return std::max(Millis(0), ttl - margin - reap - grace - renew_every * kRule.renew_percent / 100);
}

Millis lease_margin(Millis ttl) { return ttl / kRule.margin_share + kWallStep + kScheduling; }

Millis reap_time(std::size_t tasks) {
  const Micros each = kReapPerTask * static_cast<Micros::rep>(tasks);
  return std::max(kReap, kReapBase + std::chrono::ceil<Millis>(each));
}

Result<Timings> plan_timings(const TimingOptions& options) {
  const Timings t = timings_for(options.ttl, options);
  if (room_for_grace(t) >= kRule.least_grace) return t;
  const Millis enough = smallest_ttl(options);
  std::string hint = "lower renew-every or op-timeout";
  if (enough.count() > 0)
    hint =
        "the smallest ttl for these is " + std::to_string(enough.count() / 1000) + "s; or " + hint;
  return Error{Code::config,
               "ttl " + seconds(t.ttl) + " is too short: ttl - 1.1 renew-every (" +
                   seconds(t.renew_every) + ") - op-timeout (" + seconds(t.op_timeout) +
                   ") - retry gap (" + seconds(t.retry_gap) + ") - time to reap (" +
                   seconds(t.reap) + ") - margin (" + seconds(t.margin) +
                   ") must leave at least 0.2s to stop the command",
               hint};
}

}  // namespace cronlatch
