// SPDX-License-Identifier: Apache-2.0
// Which process holds a lock file, read from /proc. A reader must never acquire the kernel lock,
// not even briefly, because another run would get the answer busy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch::file {

// A granted flock(2) in /proc/locks. Process `pid` took it and can be dead: processes that
// inherited the descriptor still hold it.
struct Flock {
  unsigned major = 0;
  unsigned minor = 0;
  std::uint64_t inode = 0;
  long pid = 0;
  bool operator==(const Flock&) const = default;
};
std::vector<Flock> parse_locks(std::string_view text);  // without other kinds of locks and waiters

enum class KernelLockState { held, free, unknown };

struct Holder {
  KernelLockState lock_state = KernelLockState::unknown;
  long pid = 0;  // a live process that holds it; 0: none is visible
};

// The locks of this host, read once; for any number of lookups.
class HolderTable {
 public:
  // `proc` is /proc outside of tests.
  explicit HolderTable(std::string proc = "/proc");
  // `pid_namespace` is the namespace in which the last holder acquired the lock (0: unknown).
  // Processes outside of this process's namespace are not visible: then a failed search proves
  // nothing.
  Holder find(int directory, const std::string& lock_file, std::uint64_t pid_namespace) const;

 private:
  std::string proc_;
  bool readable_ = false;
  std::vector<Flock> locks_;
};

// The inode number of this process's PID namespace; 0 when it cannot be read.
std::uint64_t own_pid_namespace();

}  // namespace cronlatch::file
