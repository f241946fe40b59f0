// SPDX-License-Identifier: Apache-2.0
// The directory of a file store: opened, or made, and refused when other users could tamper with
// the locks in it or when its locks would not be kept by this host's kernel.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch::file {

enum class IfMissing {
  create,   // mode 0700, and so are the parents that are missing
  no_value  // reading leaves no trace: no directory, no locks
};

// A plain absolute path: no ".", no "..", no empty parts (which could lead through a link unseen).
Result<std::string> check_directory_path(const std::string& path);

// Without a value: missing, and not to be made. Code::config when it
//   - is a link, or no directory;
//   - belongs neither to us nor to root (root's is taken: root could tamper with anything anyway);
//   - may be written by group or others;
//   - lies on a network file system, where flock(2) is not this kernel's alone.
Result<std::optional<Fd>> open_directory(const std::string& path, IfMissing if_missing);

// The name of a network file system by its statfs(2) type, or nullptr. FUSE and overlay are local.
const char* network_file_system(unsigned long type);

}  // namespace cronlatch::file
