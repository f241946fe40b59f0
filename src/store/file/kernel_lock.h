// SPDX-License-Identifier: Apache-2.0
// KernelLock: an exclusive flock(2) on a file that is never unlinked. It belongs to the open file
// description: every process that inherits the descriptor holds it, so a lock lives as long as the
// tree it was given to.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch::file {

class KernelLock {
 public:
  // Without a value: somebody else holds it. Never waits. `path` is for messages.
  static Result<std::optional<KernelLock>> try_take(int directory, const std::string& name,
                                                    const std::string& path);
  // Unlocks for everybody, those who inherited the descriptor included. Destruction alone leaves it
  // to them.
  void unlock();
  // Keeps cleaners of temporary files away.
  void touch() const;
  int fd() const { return fd_.get(); }

 private:
  explicit KernelLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace cronlatch::file
