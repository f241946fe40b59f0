// SPDX-License-Identifier: Apache-2.0
// flock(2) with two checks: the file was not replaced between open and lock, and the descriptor
// does not become the command's standard input.
#include "store/file/kernel_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "base/fd.h"
#include "store/file/directory.h"
#include "store/file/file_errors.h"

namespace cronlatch::file {
namespace {

// With a closed stdin open() returns 0, and the command would read the lock file as its input.
Fd above_standard_streams(Fd fd) {
  if (fd.get() < 0 || fd.get() > 2) return fd;
  return Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

enum class Links { refuse, follow };

bool is_named(int fd, int directory, const std::string& name, Links links) {
  struct stat opened {
  }, named{};
  const int flags = links == Links::refuse ? AT_SYMLINK_NOFOLLOW : 0;
  return fstat(fd, &opened) == 0 && fstatat(directory, name.c_str(), &named, flags) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Read-only, so that the command that inherits it cannot write to it; O_NONBLOCK because the file
// can be a FIFO.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Without O_CREAT first: in a sticky directory the kernel refuses it for the file of another user
// (fs.protected_regular).
Fd open_shared(const std::string& path) {
  constexpr mode_t kMode = 0666;
  Fd fd(open(path.c_str(), kOpenFlags));
  if (fd || errno != ENOENT) return fd;
  return Fd(open(path.c_str(), kOpenFlags | O_CREAT, kMode));
}

Error shared_file_error(int error_number, const std::string& action, const std::string& path) {
  Error error = file_error(error_number, action, path);
  if (error.code == Code::config)
    error.hint =
        "check lock-file: this user must be able to read the file, or to create it in its "
        "directory";
  return error;
}

Status check_local(int fd, const std::string& path) {
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0) return shared_file_error(errno, "read the attributes of", path);
  const char* name = network_file_system(static_cast<unsigned long>(fs.f_type) & 0xFFFFFFFFUL);
  if (name == nullptr) return Done{};
  return Error{Code::config, path + " is on a network file system (" + name + ")",
               "file locks work on one host only; set lock-file to a local file, or use lock with "
               "a redis:// server"};
}

// 0: locked. EWOULDBLOCK: another process holds it. Any other errno: the kernel refused the call.
int try_flock(int fd) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

// Bounded, for the case that another process unlinks lock files in a loop.
constexpr int kMaxTries = 16;

Error replaced_repeatedly(const std::string& path) {
  return {Code::unreachable, path + " is replaced repeatedly",
          "find the process that removes files in this directory"};
}

}  // namespace

Result<std::optional<KernelLock>> KernelLock::try_take(int directory, const std::string& name,
                                                       const std::string& path) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    Fd fd = above_standard_streams(
        Fd(openat(directory, name.c_str(), kOpenFlags | O_CREAT | O_NOFOLLOW, 0600)));
    if (!fd) return file_error(errno, "open", path);
    const int failed = try_flock(fd.get());
    if (failed == EWOULDBLOCK) return std::optional<KernelLock>{};
    if (failed != 0) return file_error(failed, "lock", path);
    if (is_named(fd.get(), directory, name, Links::refuse))
      return std::optional(KernelLock(std::move(fd)));
  }
  return replaced_repeatedly(path);
}

Result<std::optional<KernelLock>> KernelLock::try_take_file(const std::string& path) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    Fd fd = above_standard_streams(open_shared(path));
    if (!fd) return shared_file_error(errno, "open", path);
    if (const Status local = check_local(fd.get(), path); !local) return local.error();
    const int failed = try_flock(fd.get());
    if (failed == EWOULDBLOCK) return std::optional<KernelLock>{};
    if (failed != 0) return shared_file_error(failed, "lock", path);
    if (is_named(fd.get(), AT_FDCWD, path, Links::follow))
      return std::optional(KernelLock(std::move(fd)));
  }
  return replaced_repeatedly(path);
}

void KernelLock::unlock() {
  if (fd_) flock(fd_.get(), LOCK_UN);
  fd_ = Fd();
}

void KernelLock::touch() const { futimens(fd_.get(), nullptr); }

}  // namespace cronlatch::file
