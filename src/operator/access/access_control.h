// SPDX-License-Identifier: Apache-2.0
// AccessControl: reviews with a short memory. Each client that reaches the port can send any token.
// The memory, the rate of reviews, and the number of reviews at once are therefore limited. A token
// that was allowed before is reviewed beyond the limits: invalid tokens of other clients do not
// exclude Prometheus.
//
// Thread rule: any method from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/last_error.h"
#include "base/log.h"
#include "base/lru.h"
#include "base/rate_budget.h"
#include "base/result.h"
#include "base/time.h"
#include "operator/access/access_review.h"

namespace cronlatch::op {

struct AccessLimits {
  Millis allowed_for{60'000};  // how long a result is used without another review
  Millis refused_for{10'000};
  std::size_t remembered = 256;  // allowed tokens; and the same number of refused ones
  // Reviews of tokens that were not allowed before: per minute, and a quarter of it for each
  // client; and at once, less than HttpLimits::workers.
  double per_minute = 300;
  std::size_t at_once = 3;
};

class AccessControl {
 public:
  // The references must outlive the object.
  AccessControl(kube::Api& api, const Clock& clock, const Log& log, const AccessLimits& limits = {})
      : api_(api), clock_(clock), log_(log), limits_(limits), budget_(limits.per_minute) {}

  // Blocks for two reviews at most. `client`: its IP address. An error: the access is not known,
  // and the caller must refuse it; its message contains no part of a token and may be sent to the
  // client.
  Result<AccessResult> check(const AccessRequest& request, const std::string& client);

 private:
  struct Remembered {
    AccessResult result;
    TimePoint until{};
  };
  const AccessResult* remembered(const std::string& key, TimePoint now);
  bool was_allowed(const std::string& key);
  bool may_start(const std::string& client, TimePoint now);
  void remember(const std::string& key, const AccessResult& result, TimePoint now);
  void report(const AccessRequest& request, const AccessResult& result, TimePoint now);

  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  const AccessLimits limits_;
  std::mutex mutex_;
  Lru<Remembered> allowed_{limits_.remembered}, refused_{limits_.remembered};
  RateBudget budget_;                // by client
  std::atomic<std::size_t> open_{};  // reviews of tokens that were not allowed before
  std::optional<TimePoint> reported_;
  LastError last_error_;
};

}  // namespace cronlatch::op
