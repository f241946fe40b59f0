// SPDX-License-Identifier: Apache-2.0
// The first steps of main: descriptors 0 to 2 and the process's own protection.
#include "proc/startup.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

namespace cronlatch {

void reserve_standard_fds() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number, which is `fd`. O_PATH on "/": exists in every image,
    // needs no permission, and answers read and write with EBADF, as a closed descriptor does.
    (void)::open("/", O_PATH | O_CLOEXEC);
  }
}

void harden_process() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace cronlatch
