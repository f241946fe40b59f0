// SPDX-License-Identifier: Apache-2.0
// The mount point is the highest directory above the file with the same mount id (statx(2)): this
// also works without /proc.
#include "proc/noexec.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

namespace cronlatch {
namespace {

std::optional<std::uint64_t> mount_id(const std::string& path) {
  struct statx about {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &about) != 0) return std::nullopt;
  if ((about.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return about.stx_mnt_id;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::optional<std::string> noexec_mount(const std::string& path) {
  struct statvfs fs {};
  if (::statvfs(path.c_str(), &fs) != 0 || (fs.f_flag & ST_NOEXEC) == 0) return std::nullopt;
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return path;
  std::string at = resolved;
  const std::optional<std::uint64_t> id = mount_id(at);
  if (!id) return directory_of(at);
  while (at != "/" && mount_id(directory_of(at)) == id) at = directory_of(at);
  return at;
}

std::string noexec_hint(const std::string& mount) {
  return "move the program to a file system without noexec, remount " + mount +
         " with exec, or run a script with its interpreter (sh SCRIPT)";
}

}  // namespace cronlatch
