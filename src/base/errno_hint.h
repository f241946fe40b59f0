// SPDX-License-Identifier: Apache-2.0
// The hint for an errno: every call that fails at the limit of open files has the same one.
#pragma once

#include <cerrno>
#include <string>

namespace cronlatch {

inline bool is_descriptor_limit(int error_number) {
  return error_number == EMFILE || error_number == ENFILE;
}

// For EFBIG of a write: a file is at the limit of its size.
inline constexpr const char* kFileSizeHint =
    "the limit of file sizes (RLIMIT_FSIZE) is too low: raise it with ulimit -f, or LimitFSIZE= of "
    "the unit";

inline std::string errno_hint(int error_number, std::string otherwise) {
  if (error_number == EMFILE)
    return "the limit of open files (RLIMIT_NOFILE) is too low: raise it with ulimit -n, "
           "LimitNOFILE= of the unit, or the ulimits of the container";
  if (error_number == ENFILE)
    return "the host's limit of open files (fs.file-max) is reached: raise it, or find the process "
           "that holds them";
  return otherwise;
}

// After a file of the user's choice could not be opened, read or written.
inline std::string file_hint(int error_number) {
  switch (error_number) {
    case EFBIG:
      return kFileSizeHint;
    case ENOENT:
    case ENOTDIR:
      return "create its directory, or name another file";
    case EISDIR:
      return "name a file in that directory";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a file that this user may write, in a directory that it may write";
    case ENOSPC:
    case EDQUOT:
      return "free some space on that file system";
    default:
      return errno_hint(error_number, "name another file");
  }
}

}  // namespace cronlatch
