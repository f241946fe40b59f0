// SPDX-License-Identifier: Apache-2.0
// flock(2) with two checks: the file was not replaced between open and lock, and the descriptor
// does not become the command's standard input.
#include "store/file/kernel_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/fd.h"
#include "store/file/file_errors.h"

namespace cronlatch::file {
namespace {

// With a closed stdin open() returns 0, and the command would read the lock file as its input.
Fd above_standard_streams(Fd fd) {
  if (fd.get() < 0 || fd.get() > 2) return fd;
  return Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

bool is_named(int fd, int directory, const std::string& name) {
  struct stat opened {
  }, named{};
  return fstat(fd, &opened) == 0 &&
         fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<std::optional<KernelLock>> KernelLock::try_take(int directory, const std::string& name,
                                                       const std::string& path) {
  // Bounded, for the case that another process unlinks lock files in a loop.
  for (int tries = 0; tries < 16; ++tries) {
    // Read-only, so that the command that inherits it cannot write to it; O_NONBLOCK because the
    // file can be a FIFO.
    Fd fd = above_standard_streams(Fd(openat(
        directory, name.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)));
    if (!fd) return file_error(errno, "open", path);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::optional<KernelLock>{};
      if (errno == EINTR) continue;
      return file_error(errno, "lock", path);
    }
    if (is_named(fd.get(), directory, name)) return std::optional(KernelLock(std::move(fd)));
  }
  return Error{Code::unreachable, path + " is replaced repeatedly",
               "find the process that removes files in this directory"};
}

void KernelLock::unlock() {
  if (fd_) flock(fd_.get(), LOCK_UN);
  fd_ = Fd();
}

void KernelLock::touch() const { futimens(fd_.get(), nullptr); }

}  // namespace cronlatch::file
