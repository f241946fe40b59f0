// SPDX-License-Identifier: Apache-2.0
#include "metrics/sample_values.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/lock_json.h"

namespace cronlatch {
namespace {

// A decimal fraction without trailing zeros: 1500 of 1000 is "1.5". Floating point would round
// large counts.
std::string decimal(std::int64_t value, std::int64_t unit, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%0*lld", static_cast<long long>(value / unit), digits,
                static_cast<long long>(value % unit));
  std::string out = text;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

std::optional<std::string> time_text(ServerTime t) {
  if (t.us == 0) return std::nullopt;
  return seconds(t);
}

// The grants that the gauges count. Without slots a view has only its last grant. A holder without
// a fence is another program, whose grants no counter contains.
std::vector<GrantView> grants_of(const LockView& view) {
  std::vector<GrantView> grants = view.grants;
  if (view.slots == 1 && (view.open() || live_grants(view) > 0))
    grants = {{view.state, view.identity, view.fence, view.attempt, view.acquired, view.expires}};
  std::erase_if(grants, [](const GrantView& grant) { return grant.fence == 0; });
  return grants;
}

struct JobGrants {
  std::int64_t live = 0;
  std::int64_t open = 0;  // not closed in the counters
  ServerTime acquired{};  // of the last one
  ServerTime expires{};   // of the first to end
};

JobGrants grants_of(const LockView& view, const std::string& job) {
  JobGrants found;
  for (const GrantView& grant : grants_of(view)) {
    if (grant.identity.job != job) continue;
    if (grant.state != LockState::expired) ++found.live;
    if (grant.state != LockState::revoked) ++found.open;
    found.acquired = std::max(found.acquired, grant.acquired);
    if (found.expires.us == 0 || grant.expires < found.expires) found.expires = grant.expires;
  }
  return found;
}

}  // namespace

std::string seconds(Millis d) { return decimal(d.count(), 1'000, 3); }
std::string seconds(ServerTime t) { return decimal(t.us, 1'000'000, 6); }

std::optional<std::string> gauge_text(Gauge gauge, const LockView& view, const std::string& job,
                                      const Counters& counters) {
  switch (gauge) {
    case Gauge::held:
      return std::to_string(grants_of(view, job).live);
    case Gauge::open:
      return std::to_string(grants_of(view, job).open);
    case Gauge::slots:
      if (view.slots == 1) return std::nullopt;
      return std::to_string(view.slots);
    case Gauge::waiters:
      if (!view.waiters) return std::nullopt;
      return std::to_string(*view.waiters);
    case Gauge::acquired_at:
      return time_text(view.identity.job == job ? view.acquired : grants_of(view, job).acquired);
    case Gauge::expires_at:
      return time_text(grants_of(view, job).expires);
    case Gauge::last_success:
      return time_text({counters.get("last_success")});
    case Gauge::last_skip:
      return time_text({counters.get("last_skip")});
  }
  return std::nullopt;
}

}  // namespace cronlatch
