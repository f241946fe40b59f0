// SPDX-License-Identifier: Apache-2.0
// Opens and checks the directory. All checks use the descriptor, so that the directory cannot be
// replaced after the check.
#include "store/file/directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/fd.h"
#include "store/file/file_errors.h"

namespace cronlatch::file {
namespace {

struct NetworkType {
  unsigned long type;
  const char* name;
};
// Numbers without a name in linux/magic.h are from statfs(2) and the sources of the file systems.
constexpr std::array<NetworkType, 17> kNetworkTypes = {{
    {NFS_SUPER_MAGIC, "NFS"},
    {CIFS_SUPER_MAGIC, "CIFS"},
    {SMB2_SUPER_MAGIC, "SMB2"},
    {SMB_SUPER_MAGIC, "SMB"},
    {V9FS_MAGIC, "9p"},
    {CEPH_SUPER_MAGIC, "Ceph"},
    {AFS_SUPER_MAGIC, "AFS"},
    {AFS_FS_MAGIC, "AFS"},
    {CODA_SUPER_MAGIC, "Coda"},
    {NCP_SUPER_MAGIC, "NCP"},
    {OCFS2_SUPER_MAGIC, "OCFS2"},
    {0x01161970, "GFS2"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"},
    {0xAAD7AAEA, "PanFS"},
}};

Error directory_error(const std::string& path, const std::string& why) {
  return {Code::config, "directory " + path + " " + why,
          "set store=file:///dir to another directory; a missing one is created with mode 0700"};
}

Status check_directory(int fd, const std::string& path) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return file_error(errno, "read the attributes of", path);
  if (st.st_uid != geteuid() && st.st_uid != 0)
    return directory_error(path, "belongs to user " + std::to_string(st.st_uid));
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return directory_error(path, "is writable for other users");
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0) return file_error(errno, "read the attributes of", path);
  if (const char* name = network_file_system(static_cast<unsigned long>(fs.f_type) & 0xFFFFFFFFUL))
    return Error{
        Code::config, "directory " + path + " is on a network file system (" + name + ")",
        "file locks work on one host only; set store to a local directory or to a redis:// server"};
  return Done{};
}

Status create_with_parents(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    // EEXIST: another process created it, or it is a link, which opening the last part refuses.
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      const int why = errno;
      // A parent without write permission can exist: some file systems return EACCES or EROFS
      // before EEXIST.
      if (access(part.c_str(), F_OK) != 0) return file_error(why, "create", part);
    }
    if (end == std::string::npos) return Done{};
  }
}

Fd open_last_part(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

const char* network_file_system(unsigned long type) {
  for (const NetworkType& network : kNetworkTypes)
    if (network.type == type) return network.name;
  return nullptr;
}

Result<std::string> check_directory_path(const std::string& path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  const std::string parts = plain + "/";
  const bool good =
      plain.size() > 1 && plain.size() < PATH_MAX && plain[0] == '/' &&
      plain.find('\0') == std::string::npos && parts.find("//") == std::string::npos &&
      parts.find("/./") == std::string::npos && parts.find("/../") == std::string::npos;
  if (!good)
    return Error{Code::config,
                 "the directory '" + path.substr(0, 200) + "' is not a plain absolute path",
                 "write for example store=file:///var/lib/cronlatch"};
  return plain;
}

Result<std::optional<Fd>> open_directory(const std::string& path, IfMissing if_missing) {
  Fd fd = open_last_part(path);
  if (!fd && errno == ENOENT) {
    if (if_missing == IfMissing::no_value) return std::optional<Fd>{};
    if (Status created = create_with_parents(path); !created) return created.error();
    fd = open_last_part(path);
  }
  if (!fd) {
    const int why = errno;
    // With O_NOFOLLOW|O_DIRECTORY a link and a plain file both return ENOTDIR: readlink
    // distinguishes them.
    char target[1];
    if ((why == ENOTDIR || why == ELOOP) && readlink(path.c_str(), target, sizeof target) >= 0)
      return directory_error(path, "is a symbolic link");
    if (why == ENOTDIR) return directory_error(path, "is not a directory");
    return file_error(why, "open", path);
  }
  if (Status fine = check_directory(fd.get(), path); !fine) return fine.error();
  return std::optional<Fd>(std::move(fd));
}

}  // namespace cronlatch::file
