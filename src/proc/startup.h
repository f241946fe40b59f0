// SPDX-License-Identifier: Apache-2.0
// The first steps of main, before any other code of the program.
#pragma once

namespace cronlatch {

// Call before any descriptor is opened. Where 0, 1 or 2 is closed, opens a descriptor there that
// can neither be read nor written and that the command does not inherit. So no socket of cronlatch
// becomes a standard stream, and a closed descriptor is still closed for the command.
void reserve_standard_fds();

// Prevents other processes of the same user from reading this one's memory (the password, the owner
// token): not dumpable, not traceable. The command is not affected: execve makes it dumpable again.
// RLIMIT_CORE, which it would inherit, stays.
void harden_process();

}  // namespace cronlatch
