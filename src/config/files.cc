// SPDX-License-Identifier: Apache-2.0
// Without iostream, which takes longer than the read itself.
#include "config/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/errno_hint.h"
#include "base/fd.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;

// 0: there is something to read, or the writer has ended.
int wait_for_writer(int fd, std::chrono::milliseconds limit) {
  pollfd waited{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waited, 1, static_cast<int>(limit.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0 ? 0 : ETIMEDOUT;
}

bool is_pipe(int fd) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode);
}

}  // namespace

std::string read_hint(int error) {
  if (error == ETIMEDOUT)
    return "it is a pipe that no process wrote to in time: start its writer first, or name a file";
  if (error == EFBIG)
    return "a file that cronlatch reads has at most " + std::to_string(kMaxBytes >> 20U) + " MiB";
  return errno_hint(error, "check the path, its owner and its mode");
}

FileText HostFiles::read(const std::string& path) const {
  // O_NONBLOCK: a FIFO without a writer must not block the start.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return {"", errno};
  // The end of a FIFO that no process has opened for writing looks like that of an empty file,
  // which would select every default. poll(2) reports it only after a writer has ended.
  if (is_pipe(file.get()))
    if (const int error = wait_for_writer(file.get(), pipe_wait_); error != 0) return {"", error};
  FileText out;
  std::array<char, 4'096> piece{};
  while (true) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n == 0) return out;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (const int error = wait_for_writer(file.get(), pipe_wait_); error != 0) return {"", error};
      continue;
    }
    if (n < 0) return {"", errno};
    out.text.append(piece.data(), static_cast<std::size_t>(n));
    if (out.text.size() > kMaxBytes) return {"", EFBIG};
  }
}

bool HostFiles::exists(const std::string& path) const {
  return access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace cronlatch
