// SPDX-License-Identifier: Apache-2.0
// From errno to the Error of the file store.
#include "store/file/file_errors.h"

#include <cerrno>
#include <cstring>

#include "base/errno_hint.h"

namespace cronlatch::file {

Error file_error(int error_number, const std::string& action, const std::string& path) {
  const std::string message = "cannot " + action + " " + path + ": " + strerror(error_number);
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return {Code::unreachable, message, "free some space on that file system"};
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOLCK:
    case EIO:
    case EINTR:
    case EAGAIN:
      return {Code::unreachable, message, errno_hint(error_number, "")};
    case EACCES:
    case EPERM:
      return {Code::config, message, "set store=file:///dir to a directory that you own"};
    case EFBIG:
      return {Code::config, message, kFileSizeHint};
    case EROFS:
      return {Code::config, message, "set store=file:///dir to a writable directory"};
  }
  return {Code::config, message, "check the directory in store"};
}

}  // namespace cronlatch::file
