// SPDX-License-Identifier: Apache-2.0
// The figures of plan_timings (lease.cc). The chart's check of the same inequality is rendered from
// them (gen/chart_limits.cc).
#pragma once

#include "base/time.h"

namespace cronlatch {

struct TimingRule {
  int renew_share = 3;  // of ttl, the divisor of a value that is not set
  int op_share = 10;
  int gap_share = 30;
  int grace_share = 3;
  int margin_share = 100;        // 1 % of the lease for clock rates
  int renew_percent = 110;       // the longest period between two renewals
  Millis longest_renew{10'000};  // of a value that is not set
  Millis longest_op{3'000};
  Millis least_gap{200};
  Millis longest_gap{1'000};
  Millis least_grace{200};
};
inline constexpr TimingRule kTimingRule;

}  // namespace cronlatch
