// SPDX-License-Identifier: Apache-2.0
// The protection of this process.
#pragma once

namespace cronlatch {

// Prevents other processes of the same user from reading this one's memory (the password, the owner
// token): not dumpable, not traceable. The command is not affected: execve makes it dumpable again.
// RLIMIT_CORE, which it would inherit, stays.
void harden_process();

}  // namespace cronlatch
