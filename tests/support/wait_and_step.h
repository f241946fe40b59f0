// SPDX-License-Identifier: Apache-2.0
// One round of the loop that drives a store, for tests and benchmarks.
#pragma once

#include <poll.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/kernel_clock.h"
#include "core/store.h"

namespace cronlatch::testing {

// One round of the loop every program runs: wait for what the store waits for, at most until
// `limit`.
inline std::optional<Reply> wait_and_step(Store& store, TimePoint limit) {
  PollSet set;
  store.watch(set);
  set.wake_by(limit);
  std::vector<pollfd> fds;
  for (const PollSet::Watched& w : set.fds) fds.push_back({w.fd, w.events, 0});
  const Micros left = std::max(*set.deadline - boot_now(), Micros(0));
  const timespec timeout{left.count() / 1'000'000, left.count() % 1'000'000 * 1000};
  ppoll(fds.data(), fds.size(), &timeout, nullptr);
  for (std::size_t i = 0; i < fds.size(); ++i) set.fds[i].ready = fds[i].revents;
  return store.step(set, boot_now());
}

}  // namespace cronlatch::testing
