// SPDX-License-Identifier: Apache-2.0
#include "proc/child_reaper.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/kernel_clock.h"
#include "proc/descendants.h"

namespace cronlatch {
namespace {

constexpr Millis kLong{2};
constexpr int kRest = 2;  // times the duration of the last pass

enum class Found { nothing, child, ended };

// Whether there is a child, and the pid of one that has ended.
Found find_any(pid_t& ended) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
      ended = info.si_pid;
      return ended == 0 ? Found::child : Found::ended;
    }
    if (errno != EINTR) return Found::nothing;
  }
}

}  // namespace

// A kernel without lists of children reports them one at a time.
bool ChildReaper::reap(std::initializer_list<pid_t> kept) {
  const auto is_kept = [&](pid_t pid) {
    return std::find(kept.begin(), kept.end(), pid) != kept.end();
  };
  if (next_ && boot_now() < *next_) return true;
  next_.reset();
  for (pid_t ended = 0;;) {
    const Found found = find_any(ended);
    if (found != Found::ended || is_kept(ended)) return found != Found::nothing;
    ::waitpid(ended, nullptr, WNOHANG);
    const TimePoint began = boot_now();
    for (const pid_t pid : own_children())
      if (!is_kept(pid)) ::waitpid(pid, nullptr, WNOHANG);
    const Micros took = boot_now() - began;
    if (took < kLong) continue;
    next_ = began + (1 + kRest) * took;
    return true;
  }
}

}  // namespace cronlatch
