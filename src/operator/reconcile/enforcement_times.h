// SPDX-License-Identifier: Apache-2.0
// Since when Jobs have to be gated: a Job that was created before is not the operator's fault. The
// leader keeps these times in its Lease, so they survive an outage of the operator, which is when
// the alarm matters. They are wall times of the operator's host, compared with the API server's:
// their difference matters only for Jobs created within it around the install.
#pragma once

#include <string>

#include "admission/settings.h"
#include "base/time.h"

namespace cronlatch::op {

struct InForce {
  WallTime gating{};  // the first leader of this install
  WallTime select{};  // the first leader with these rules of `select`
  std::string rules;  // digest of those rules

  // Whether anything is new: then it has to be kept.
  bool enforce(const Settings& settings, WallTime now);
  bool operator==(const InForce&) const = default;
};

}  // namespace cronlatch::op
