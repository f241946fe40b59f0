// SPDX-License-Identifier: Apache-2.0
// Starts the child without copying this process (docs/decisions/0010): the child shares the memory
// and the caller sleeps until it has executed or ended.
#pragma once

#include <sys/types.h>

#include "proc/child.h"

namespace cronlatch {

// The child's pid; -1 with errno where there is none.
pid_t spawn(const ChildPlan& plan);

// The same, with the child in this cgroup from the start. -1 also where the kernel
// or a seccomp filter does not allow it: use spawn() then.
pid_t spawn_in_cgroup(const ChildPlan& plan, int cgroup);

}  // namespace cronlatch
