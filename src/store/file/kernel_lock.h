// SPDX-License-Identifier: Apache-2.0
// KernelLock: an exclusive flock(2) on a file that is never unlinked. It belongs to the open file
// description: every process that inherits the descriptor holds it, so the lock is held until the
// last of these processes ends.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch::file {

class KernelLock {
 public:
  // No value: another process holds it. Never waits. `path` is for messages.
  static Result<std::optional<KernelLock>> try_take(int directory, const std::string& name,
                                                    const std::string& path);
  // The same on a file that other programs lock as well (flock(1), lockrun), with the same call. A
  // missing file is created with mode 0666 less the umask; links are followed; a directory can be
  // locked. Code::config on a network file system.
  static Result<std::optional<KernelLock>> try_take_file(const std::string& path);
  // Unlocks for all processes, also for those that inherited the descriptor. Destruction alone does
  // not unlock for them.
  void unlock();
  // Sets the file's times to now, so that cleaners of temporary directories do not delete it.
  void touch() const;
  int fd() const { return fd_.get(); }

 private:
  explicit KernelLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace cronlatch::file
