// SPDX-License-Identifier: Apache-2.0
// A pipe to a child process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace cronlatch {

struct Pipe {
  Fd read, write;
  explicit operator bool() const { return read && write; }
};

// Closed in a child that executes another program. Without a value: see errno.
inline Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
#ifdef O_PATH  // systems with it also have pipe2: no child of another thread inherits the ends
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
#else  // macOS, where only the plugin runs, with one thread
  if (::pipe(ends.data()) != 0) return {};
  for (const int end : ends) (void)::fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace cronlatch
