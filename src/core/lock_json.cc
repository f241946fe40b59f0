// SPDX-License-Identifier: Apache-2.0
#include "core/lock_json.h"

#include <algorithm>

#include "base/json_object.h"
#include "base/rfc3339.h"

namespace cronlatch {
namespace {

std::string counters_json(const Counters& counters) {
  JsonObject json;
  for (const std::string_view name : kCounterNames) {
    if (is_time(name))
      json.text_or_null(name, show_time({counters.get(name)}));
    else
      json.number(name, counters.get(name));
  }
  // Sums, and the histogram buckets that are not zero.
  for (const auto& [name, value] : counters.values)
    if (is_of_histogram(name)) json.number(name, value);
  return json.str();
}

std::string sums_json(const LockView& view) {
  JsonObject json;
  for (const std::string_view name : kCounterNames)
    if (!is_time(name)) json.number(name, sum_of(view, name));
  return json.str();
}

std::string grant_json(const GrantView& grant) {
  JsonObject json;
  json.text("state", name_of(grant.state)).text("holder", grant.identity.holder);
  json.text("job", grant.identity.job).text("fence", std::to_string(grant.fence));
  json.number("attempt", grant.attempt).text_or_null("since", show_time(grant.acquired));
  json.text_or_null("expires", show_time(grant.expires));
  return json.str();
}

}  // namespace

std::string_view name_of(LockState state) {
  switch (state) {
    case LockState::free:
      return "free";
    case LockState::held:
      return "held";
    case LockState::expired:
      return "expired";
    case LockState::cooling:
      return "cooling";
    case LockState::revoked:
      return "revoked";
    case LockState::damaged:
      return "damaged";
  }
  return "";
}

std::string show_time(ServerTime t) { return t.us == 0 ? "" : rfc3339(WallTime{t.us}); }

bool is_time(std::string_view counter) { return counter.starts_with("last_"); }

bool is_of_histogram(std::string_view counter) {
  if (!counter.starts_with("hold_") && !counter.starts_with("wait_")) return false;
  return std::find(kCounterNames.begin(), kCounterNames.end(), counter) == kCounterNames.end();
}

std::int64_t sum_of(const LockView& view, std::string_view counter) {
  std::int64_t sum = 0;
  for (const auto& [job, counters] : view.jobs) sum += counters.get(counter);
  return sum;
}

bool granted(const LockView& view) {
  switch (view.state) {
    case LockState::held:
    case LockState::expired:
    case LockState::revoked:
      return true;
    case LockState::free:
    case LockState::cooling:
    case LockState::damaged:
      return false;
  }
  return false;
}

std::string when_granted(const LockView& view, const std::string& text) {
  return granted(view) ? text : "";
}

std::string expiry_of(const LockView& view) {
  return view.state == LockState::free ? "" : show_time(view.expires);
}

std::int64_t live_grants(const LockView& view) {
  if (view.slots == 1) {
    const bool is_live = view.state == LockState::held ||
                         (view.state == LockState::revoked && view.expires > view.now);
    return is_live ? 1 : 0;
  }
  return std::count_if(view.grants.begin(), view.grants.end(),
                       [](const GrantView& grant) { return grant.state != LockState::expired; });
}

std::string state_text(const LockView& view) {
  std::string text(name_of(view.state));
  if (view.slots == 1) return text;
  return text + ' ' + std::to_string(live_grants(view)) + " of " + std::to_string(view.slots);
}

std::string fence_of(const LockView& view) {
  return view.fence == 0 ? "" : std::to_string(view.fence);
}

std::string lock_json(const LockView& view) {
  std::vector<std::string> jobs;
  for (const auto& [job, counters] : view.jobs)
    jobs.push_back(JsonObject().text("job", job).json("counters", counters_json(counters)).str());
  JsonObject json;
  json.text("lock", view.lock).text("state", name_of(view.state));
  json.text_or_null("holder", when_granted(view, view.identity.holder));
  json.text_or_null("job", when_granted(view, view.identity.job));
  json.text_or_null("fence", fence_of(view)).number("attempt", view.attempt);
  json.text_or_null("since", when_granted(view, show_time(view.acquired)));
  json.text_or_null("expires", expiry_of(view)).number("ttl_ms", view.ttl.count());
  std::vector<std::string> grants;
  for (const GrantView& grant : view.grants) grants.push_back(grant_json(grant));
  json.number("slots", view.slots).json("grants", json_array(grants));
  json.json("waiters", view.waiters ? std::to_string(*view.waiters) : "null");
  json.json("pid", view.pid == 0 ? "null" : std::to_string(view.pid));
  json.json("counters", sums_json(view)).json("jobs", json_array(jobs));
  return json.str();
}

}  // namespace cronlatch
