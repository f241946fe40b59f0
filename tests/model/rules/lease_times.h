// SPDX-License-Identifier: Apache-2.0
// The table of symbols in docs/guarantees.md, computed a second time, in microseconds of the host's
// clock.
#pragma once

#include <algorithm>

#include "model/rules/facts.h"

namespace cronlatch::model {

inline constexpr Us kKappa = kSecond;  // of an ordinary tree

inline Us epsilon(const RunFacts& run) { return run.ttl / 100 + 700 * kMs; }

inline Us grace(const RunFacts& run) {
  const Us t = run.ttl;
  const Us p = std::min(t / 3, 10 * kSecond), o = std::min(t / 10, 3 * kSecond);
  const Us r = std::clamp(t / 30, 200 * kMs, kSecond);
  return std::min({run.kill_after, t / 3, t - p * 11 / 10 - o - r - kKappa - epsilon(run)});
}

// In true time: D, the kill deadline and the stop deadline of the lease that is confirmed now.
inline Us dead_by(const RunFacts& run) {
  return run.confirmed_sent + run.in_true(run.ttl - epsilon(run));
}
inline Us kill_by(const RunFacts& run) {
  return run.confirmed_sent + run.in_true(run.ttl - epsilon(run) - kKappa);
}
inline Us term_by(const RunFacts& run) {
  return run.confirmed_sent + run.in_true(run.ttl - epsilon(run) - kKappa - grace(run));
}

}  // namespace cronlatch::model
