// SPDX-License-Identifier: Apache-2.0
#include "cli/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/log.h"

namespace cronlatch {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Whoever gave us this stream may have made it non-blocking for itself.
      pollfd waiting{fd, POLLOUT, 0};
      poll(&waiting, 1, -1);
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

void write_stderr(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

std::string describe(const Error& error) {
  return render(LogLine{Level::error, "error", error.message, {}, error.hint}, LogFormat::text,
                WallTime{}) +
         '\n';
}

}  // namespace cronlatch
