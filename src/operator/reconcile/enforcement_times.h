// SPDX-License-Identifier: Apache-2.0
// EnforcementTimes: since when Jobs must be gated; older Jobs are not reported. The leader stores
// the times in its Lease, so that they survive an outage of the operator. They are times of the
// operator's host and are compared with those of the API server: a difference between the clocks
// affects only Jobs that were created within it after the installation.
#pragma once

#include <string>

#include "admission/settings.h"
#include "base/time.h"

namespace cronlatch::op {

struct EnforcementTimes {
  WallTime gating{};  // the first leader of this installation
  WallTime select{};  // the first leader with the current rules of `select`
  std::string rules;  // digest of those rules

  // Updates the times; true if they changed and must be stored.
  bool update(const Settings& settings, WallTime now);
  bool operator==(const EnforcementTimes&) const = default;
};

}  // namespace cronlatch::op
