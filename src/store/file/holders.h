// SPDX-License-Identifier: Apache-2.0
// Who holds a lock file, asked of /proc: looking must never take the kernel lock, not even for a
// moment, or a contender would be told that it is busy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch::file {

// A granted flock(2) as /proc/locks shows it. `pid` took it and may be dead: those who inherited it
// hold on.
struct Flock {
  unsigned major = 0;
  unsigned minor = 0;
  std::uint64_t inode = 0;
  long pid = 0;
  bool operator==(const Flock&) const = default;
};
std::vector<Flock> parse_locks(
    std::string_view text);  // other kinds of locks and waiters are left out

enum class KernelLockState { held, free, unknown };

struct Holder {
  KernelLockState lock_state = KernelLockState::unknown;
  long pid = 0;  // a living process that holds it, 0 when none can be seen
};

// One look at the host; ask it about as many locks as there are.
class HolderTable {
 public:
  // `proc` is /proc outside of tests.
  explicit HolderTable(std::string proc = "/proc");
  // `pid_namespace` is where the last holder took the lock (0: not known): a process of a namespace
  // that is neither ours nor below ours cannot be seen, so that not finding one says nothing.
  Holder find(int directory, const std::string& lock_file, std::uint64_t pid_namespace) const;

 private:
  std::string proc_;
  bool readable_ = false;
  std::vector<Flock> locks_;
};

// The number of this process's pid namespace, 0 when it cannot be told.
std::uint64_t own_pid_namespace();

}  // namespace cronlatch::file
