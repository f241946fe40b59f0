// SPDX-License-Identifier: Apache-2.0
// How long to wait after a rejection by an overloaded API server. Priority and fairness rejects
// with 429 and Retry-After when the queues of a flow are full; a server that starts, stops or has
// too many requests rejects with 429 or 503. A rejected request was not executed. Pure.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "kube/api.h"
#include "kube/backoff.h"

namespace cronlatch::kube {

inline constexpr Millis kMaxOverloadPause{60'000};

// Zero: the answer is no such rejection. A 429 without Retry-After means one second. The random
// part of up to a half spreads the clients that were rejected at the same time.
inline Millis overload_pause(const Response& answer, const RandomFraction& random_fraction) {
  const bool rejected =
      answer.status == 429 || (answer.status == 503 && answer.retry_after > Millis(0));
  if (!rejected) return Millis(0);
  const Millis named = std::clamp<Millis>(answer.retry_after, Seconds(1), kMaxOverloadPause);
  const double wait = static_cast<double>(named.count()) * (1 + random_fraction() / 2);
  return std::min(Millis(static_cast<Millis::rep>(wait)), kMaxOverloadPause);
}

}  // namespace cronlatch::kube
