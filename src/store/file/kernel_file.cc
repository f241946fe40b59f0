// SPDX-License-Identifier: Apache-2.0
#include "store/file/kernel_file.h"

#include <fcntl.h>

#include <climits>
#include <cstdlib>
#include <string>

#include "core/lock_file.h"
#include "store/file/names.h"

namespace cronlatch::file {

Result<std::optional<KernelLock>> try_take_kernel_lock(const LockFiles& files, unsigned slot) {
  if (const std::optional<std::string> path = file_of_lock(files.lock))
    return KernelLock::try_take_file(*path);
  const std::string suffix = lock_suffix(slot);
  return KernelLock::try_take(files.directory, with_suffix(files.base, suffix),
                              files.path_of(suffix));
}

Holder find_holder(const HolderTable& holders, const LockFiles& files, std::uint64_t pid_namespace,
                   unsigned slot) {
  const std::optional<std::string> path = file_of_lock(files.lock);
  if (!path)
    return holders.find(files.directory, with_suffix(files.base, lock_suffix(slot)), pid_namespace);
  // The kernel's table has the file at the end of the links.
  char resolved[PATH_MAX];
  return holders.find(AT_FDCWD, realpath(path->c_str(), resolved) != nullptr ? resolved : *path,
                      pid_namespace);
}

}  // namespace cronlatch::file
