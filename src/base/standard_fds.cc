// SPDX-License-Identifier: Apache-2.0
#include "base/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace cronlatch {
namespace {

// "/" exists in every image. O_PATH needs no permission, and read and write return EBADF, as of a
// closed descriptor. macOS has no O_PATH; there, read returns EISDIR.
#ifdef O_PATH
constexpr int kFlags = O_PATH | O_CLOEXEC;
#else
constexpr int kFlags = O_RDONLY | O_CLOEXEC;
#endif

}  // namespace

void reserve_standard_fds() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/", kFlags);  // takes the lowest free number, which is `fd`
  }
}

}  // namespace cronlatch
