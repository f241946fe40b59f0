// SPDX-License-Identifier: Apache-2.0
#include "terminal/stdio.h"

#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "base/log.h"

namespace cronlatch {

int write_all(int fd, std::string_view text, std::optional<Millis> limit) {
  using Steady = std::chrono::steady_clock;
  const auto end = Steady::now() + limit.value_or(Millis(0));
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Another process that shares this stream may have made it non-blocking.
      pollfd waiting{fd, POLLOUT, 0};
      const auto left = std::chrono::ceil<Millis>(end - Steady::now());
      if (limit && left.count() <= 0) return EAGAIN;
      poll(&waiting, 1, limit ? static_cast<int>(left.count()) : -1);
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? EIO : errno;
    }
  }
  return 0;
}

Status write_stdout(std::string_view text) {
  if (const int failed = write_all(STDOUT_FILENO, text))
    return Error{Code::system,
                 std::string("cannot write to standard output: ") + std::strerror(failed)};
  return Done{};
}

namespace {

// Returns -1 where the write would wait, and where the system cannot write without waiting: macOS,
// older kernels for pipes and terminals. A file may need to wait for memory.
ssize_t write_without_waiting(int fd, std::string_view text) {
#ifdef RWF_NOWAIT
  iovec piece{const_cast<char*>(text.data()), text.size()};
  return pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
#else
  (void)fd, (void)text;
  return -1;
#endif
}

}  // namespace

void write_now(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write_without_waiting(fd, text);
    if (written < 0) {
      pollfd ready{fd, POLLOUT, 0};
      // poll of macOS does not support terminals: POLLNVAL.
      if (poll(&ready, 1, 0) != 1 || (ready.revents & (POLLOUT | POLLNVAL)) == 0) return;
      written = write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    }
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_stderr(std::string_view text) { write_now(STDERR_FILENO, text); }

std::string describe(const Error& error) {
  return render(LogLine{Level::error, "error", error.message, {}, error.hint}, LogFormat::text,
                WallTime{}) +
         '\n';
}

}  // namespace cronlatch
