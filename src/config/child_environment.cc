// SPDX-License-Identifier: Apache-2.0
// The command's environment.
#include "config/child_environment.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/rfc3339.h"
#include "config/environment.h"

namespace cronlatch {
namespace {

constexpr std::string_view kPrefix = "CRONLATCH_";

// A variable that a nested run must not inherit.
bool is_of_this_run(std::string_view name) {
  if (std::find(kNoOptionVariables.begin(), kNoOptionVariables.end(), name) !=
      kNoOptionVariables.end())
    return true;
  for (const Option& option : option_table())
    if (option.scope == Scope::run && variable_of(option) == name) return true;
  return false;
}

// once-per of a schedule is `<job>@<scheduled time, seconds since 1970>`.
std::optional<WallTime> scheduled_time(const std::string& once_per) {
  constexpr std::int64_t kLatest = 253'402'300'799;  // 9999-12-31T23:59:59Z
  const std::size_t at = once_per.rfind('@');
  if (at == std::string::npos || at + 1 == once_per.size()) return std::nullopt;
  std::int64_t seconds = 0;
  const char* const end = once_per.data() + once_per.size();
  const auto [stop, error] = std::from_chars(once_per.data() + at + 1, end, seconds);
  if (error != std::errc() || stop != end || seconds < 0 || seconds > kLatest) return std::nullopt;
  return WallTime{seconds * 1'000'000};
}

}  // namespace

std::vector<std::string> scrubbed_environment(std::span<const std::string> environment) {
  std::vector<std::string> kept;
  kept.reserve(environment.size() + kNoOptionVariables.size());
  for (const std::string& entry : environment)
    if (!entry.starts_with(kPrefix) || !is_of_this_run(variable_name(entry))) kept.push_back(entry);
  return kept;
}

std::vector<std::string> child_environment(std::span<const std::string> environment,
                                           const Options& options, const GrantFacts& grant) {
  std::vector<std::string> out = scrubbed_environment(environment);
  const auto add = [&](std::string_view name, const std::string& value) {
    out.push_back(std::string(name) + "=" + value);
  };
  add(kLockNameVariable, options.lock);
  add(kLockHolderVariable, options.holder);
  if (grant.fence != 0) add(kFenceVariable, std::to_string(grant.fence));
  if (grant.fence != 0 && grant.leased) add(kLeaseVariable, std::to_string(options.ttl.count()));
  // Without an identity the time is the inherited one, which a pod gets from its Job.
  if (const std::optional<WallTime> at = scheduled_time(options.once_per))
    add(kScheduledTimeVariable, rfc3339(*at));
  else if (const auto inherited = variable(environment, kScheduledTimeVariable))
    add(kScheduledTimeVariable, *inherited);
  return out;
}

}  // namespace cronlatch
