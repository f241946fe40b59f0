// SPDX-License-Identifier: Apache-2.0
// What main does to its own process before anything else: nothing here knows of locks or commands.
#pragma once

namespace cronlatch {

// Call before any descriptor is opened. Where 0, 1 or 2 is closed, occupies it with a descriptor
// that can neither be read nor written and that the command does not inherit: a socket of ours
// never becomes somebody's stdout, and the command still finds closed what was closed.
void reserve_standard_fds();

// Keeps other processes of the same user from reading our memory (the password, the owner token):
// not dumpable, not traceable. The command is not affected: execve makes it dumpable again.
// RLIMIT_CORE, which it would inherit, stays.
void harden_process();

}  // namespace cronlatch
