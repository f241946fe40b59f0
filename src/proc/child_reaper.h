// SPDX-License-Identifier: Apache-2.0
// ChildReaper: reaps the children that have ended, thousands of them at once, too. A wait for any
// child walks over all that live, with a lock of the kernel that each of them needs to end
// (do_wait, kernel/exit.c), so that its cost grows with the square of their number. So the children
// are listed, and reaped by pid. A pass over the list that took long is not repeated at once.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <optional>

#include "base/time.h"

namespace cronlatch {

class ChildReaper {
 public:
  // Leaves `kept` to the caller, which has to reap them (0: none). False: no child is left, and
  // none of `kept`.
  bool reap(std::initializer_list<pid_t> kept);
  // When the next pass is due: call reap() again at that time.
  std::optional<TimePoint> next() const { return next_; }

 private:
  std::optional<TimePoint> next_;
};

}  // namespace cronlatch
