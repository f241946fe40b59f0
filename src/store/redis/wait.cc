// SPDX-License-Identifier: Apache-2.0
// A signal ends the wait early; callers check the clock and wait again.
#include "store/redis/wait.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "base/kernel_clock.h"

namespace cronlatch::redis {

void wait_for_events(PollSet& set) {
  std::vector<pollfd> fds;
  for (const PollSet::Watched& watched : set.fds) fds.push_back({watched.fd, watched.events, 0});
  timespec left{};
  if (set.deadline) {
    const Micros rest = std::max(Micros{0}, *set.deadline - boot_now());
    left.tv_sec = static_cast<time_t>(rest.count() / 1'000'000);
    left.tv_nsec = static_cast<long>(rest.count() % 1'000'000 * 1000);
  }
  ppoll(fds.data(), fds.size(), set.deadline ? &left : nullptr, nullptr);
  for (std::size_t i = 0; i < fds.size(); ++i) set.fds[i].ready = fds[i].revents;
}

}  // namespace cronlatch::redis
