// SPDX-License-Identifier: Apache-2.0
#include "registry/registry_pace.h"

#include <algorithm>

namespace cronlatch::registry {

RegistryPace::RegistryPace(const Clock& clock, kube::RandomFraction random_fraction,
                           PaceLimits limits)
    : clock_(clock),
      random_fraction_(std::move(random_fraction)),
      limits_(limits),
      pauses_(limits.remembered),
      gets_(limits.remembered) {}

std::optional<std::string> RegistryPace::reason_to_wait(const std::string& login_key) {
  const std::lock_guard lock(mutex_);
  const Pause* const pause = pauses_.find(login_key);
  if (pause == nullptr || clock_.now() >= pause->until) return std::nullopt;
  return pause->error;
}

void RegistryPace::answered(const std::string& login_key, Request request) {
  const std::lock_guard lock(mutex_);
  Pause* const pause = pauses_.find(login_key);
  if (pause != nullptr && (request == Request::get || !pause->is_of_get)) *pause = {};
}

void RegistryPace::failed(const std::string& login_key, Request request, const std::string& error,
                          Millis retry_after) {
  const std::lock_guard lock(mutex_);
  Pause* pause = pauses_.find(login_key);
  if (pause == nullptr) pause = &pauses_.put(login_key, Pause{});
  const Millis base = pause->next == Millis(0) ? limits_.first_pause : pause->next;
  pause->next = std::min(base * 2, limits_.max_pause);
  if (request == Request::get) pause->is_of_get = true;
  // A random part, so that replicas do not send at the same time; never before the requested time.
  const double random = random_fraction_();
  const double wait = retry_after == Millis(0)
                          ? static_cast<double>(base.count()) * (1 - random / 2)
                          : static_cast<double>(retry_after.count()) * (1 + random / 10);
  pause->until = clock_.now() + Millis(static_cast<Millis::rep>(wait));
  pause->error = error;
}

bool RegistryPace::take_manifest_get(const std::string& manifest_key) {
  const std::lock_guard lock(mutex_);
  std::deque<TimePoint>* times = gets_.find(manifest_key);
  if (times == nullptr) times = &gets_.put(manifest_key, {});
  while (!times->empty() && clock_.now() - times->front() >= limits_.manifest_window)
    times->pop_front();
  if (times->size() >= limits_.manifest_gets) return false;
  times->push_back(clock_.now());
  return true;
}

}  // namespace cronlatch::registry
