// SPDX-License-Identifier: Apache-2.0
#include "proc/startup.h"

#include <sys/prctl.h>

namespace cronlatch {

void harden_process() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace cronlatch
