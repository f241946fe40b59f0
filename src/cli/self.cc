// SPDX-License-Identifier: Apache-2.0
#include "cli/self.h"

#include <unistd.h>

#include <climits>

namespace cronlatch {

Result<std::string> own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return Error{Code::system,
                 "the path of this program is not known: /proc/self/exe cannot be read",
                 "mount /proc"};
  return std::string(path, static_cast<std::size_t>(length));
}

}  // namespace cronlatch
