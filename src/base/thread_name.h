// SPDX-License-Identifier: Apache-2.0
// The name of a thread, as `top -H`, gdb and /proc/<pid>/task/<tid>/comm show it.
#pragma once

#include <pthread.h>

namespace cronlatch {

// At most 15 bytes; the kernel refuses a longer name.
inline void name_thread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace cronlatch
