// SPDX-License-Identifier: Apache-2.0
// The directory of a file store: opened or created. It is refused when other users can change the
// locks in it, or when another host's kernel can grant them too.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch::file {

enum class IfMissing {
  create,   // mode 0700, missing parents included
  no_value  // for readers: no directory means no locks
};

// A plain absolute path: no ".", no "..", no empty parts. Only its last part is checked for links.
Result<std::string> check_directory_path(const std::string& path);

// No value: missing, with IfMissing::no_value. Code::config when the directory
//   - is a link, or no directory;
//   - belongs neither to this user nor to root (root can change any file in any case);
//   - is writable for the group or for others;
//   - is on a network file system, where other hosts share flock(2).
Result<std::optional<Fd>> open_directory(const std::string& path, IfMissing if_missing);

// The name of a network file system by its statfs(2) type, or nullptr. FUSE and overlay are local.
const char* network_file_system(unsigned long type);

}  // namespace cronlatch::file
