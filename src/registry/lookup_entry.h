// SPDX-License-Identifier: Apache-2.0
// One entry of the cache of Lookup, and when its failure is retried.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "registry/lookup.h"

namespace cronlatch::registry {

inline std::string cache_key(const LookupRequest& request) {
  std::string key = request.image.text();
  for (const std::string& arch : request.architectures) key += "\n" + arch;
  if (!request.pull_secrets.empty()) key += "\n@" + request.namespace_name;
  for (const std::string& secret : request.pull_secrets) key += "\n" + secret;
  return key;
}

struct Entry {
  std::optional<ImageInfo> info;
  TimePoint read_at{};
  std::optional<std::string> failure;
  int failures = 0;      // in sequence
  TimePoint retry_at{};  // the failure is returned until then
  bool running = false;  // queued, or on a thread

  bool has_failure_at(TimePoint now) const { return failure && now < retry_at; }
  LookupResult result() const {
    if (info) return {LookupResult::Kind::known, *info, true};
    if (failure) return {LookupResult::Kind::failed, {}, false, *failure};
    return {};
  }
};

// Doubled after each failure, with a random part of at most a half.
inline Millis time_to_retry(const LookupTiming& timing, int failures,
                            const kube::RandomFraction& random_fraction) {
  Millis wait = timing.first_retry;
  for (int i = 1; i < failures && wait < timing.max_retry; ++i) wait *= 2;
  const double random = random_fraction ? random_fraction() : 0;
  const double longest = static_cast<double>(std::min(wait, timing.max_retry).count());
  return Millis(static_cast<Millis::rep>(longest * (1 - random / 2)));
}

}  // namespace cronlatch::registry
