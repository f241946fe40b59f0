// SPDX-License-Identifier: Apache-2.0
#include "proc/start_error.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/errno_hint.h"
#include "proc/noexec.h"

namespace cronlatch {

Error start_error(const char* call, int why) {
  return {Code::system,
          std::string("the command cannot be started: ") + call + ": " + std::strerror(why),
          errno_hint(
              why, why == EFBIG ? kFileSizeHint : "a limit of processes or memory may be reached")};
}

Error exec_error(const std::string& path, int why) {
  const std::string what = "command " + path + " cannot be executed: ";
  switch (why) {
    case ENOENT:
    case ENOTDIR:
      return {Code::exec_missing, what + "the file, or the interpreter it names, does not exist",
              "check its first line (#!) and, for a binary, that its loader is in this image"};
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case EIO:
      return start_error("execve", why);
    case EACCES:
      if (const std::optional<std::string> mount = noexec_mount(path))
        return {Code::exec_denied, what + "it is on " + *mount + ", which is mounted noexec",
                noexec_hint(*mount)};
      [[fallthrough]];
    default:
      return {Code::exec_denied, what + std::strerror(why),
              "check the file's mode, its mount (noexec) and its format"};
  }
}

}  // namespace cronlatch
