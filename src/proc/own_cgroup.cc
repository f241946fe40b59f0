// SPDX-License-Identifier: Apache-2.0
// cgroups(7), Documentation/admin-guide/cgroup-v2.rst. No controller is enabled: the directory
// groups processes and limits nothing, so the rule against processes in inner cgroups does not
// apply.
#include "proc/own_cgroup.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>
#include <string_view>

namespace cronlatch {
namespace {

// Where cgroup v2 is mounted: alone, or beside v1 (hybrid).
constexpr std::array<const char*, 2> kMounts = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
constexpr std::string_view kNamePrefix = "cronlatch-";
constexpr mode_t kMode = 0755;
constexpr int kMaxDepth = 32;

using Dir = std::unique_ptr<DIR, int (*)(DIR*)>;

std::string read_file_at(int dir, const char* name) {
  const Fd fd(::openat(dir, name, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t n = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

// The path of this process in the v2 hierarchy: the line "0::/path" of /proc/self/cgroup.
std::optional<std::string> own_path() {
  const std::string text = "\n" + read_file_at(AT_FDCWD, "/proc/self/cgroup");
  const std::size_t at = text.find("\n0::/");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t from = at + 4, end = text.find('\n', from);
  if (end == std::string::npos) return std::nullopt;
  std::string path = text.substr(from, end - from);
  // Outside of this cgroup namespace: not below the mount.
  if (path.find("/..") != std::string::npos) return std::nullopt;
  return path;
}

Fd open_own_cgroup() {
  const std::optional<std::string> path = own_path();
  if (!path) return Fd();
  for (const char* mount : kMounts) {
    Fd dir(::open((mount + *path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct statfs fs {};
    if (dir && ::fstatfs(dir.get(), &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC) return dir;
  }
  return Fd();
}

// The cgroup and those below it: a nested run that was killed could not remove its own. A cgroup in
// which a process lives stays.
void remove_at(int parent, const char* name, int depth = 0) {
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != EBUSY || depth == kMaxDepth) return;
  const Dir dir(::fdopendir(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                &::closedir);
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir.get()))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
      remove_at(::dirfd(dir.get()), entry->d_name, depth + 1);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

// Those of runs that were killed, or that left processes behind which have ended since.
void remove_abandoned(int parent) {
  const Dir dir(::fdopendir(::openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                &::closedir);
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (entry->d_type != DT_DIR || !name.starts_with(kNamePrefix)) continue;
    const auto [end, error] =
        std::from_chars(name.data() + kNamePrefix.size(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid <= 0) continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH) remove_at(parent, entry->d_name);
  }
}

bool has_other_children(int parent) {
  constexpr nlink_t kLinksWithOneChild = 3;
  struct stat st {};
  return ::fstat(parent, &st) == 0 && st.st_nlink > kLinksWithOneChild;
}

}  // namespace

std::optional<OwnCgroup> OwnCgroup::create() {
  Fd parent = open_own_cgroup();
  if (!parent) return std::nullopt;
  const std::string name = std::string(kNamePrefix) + std::to_string(::getpid());
  if (::mkdirat(parent.get(), name.c_str(), kMode) != 0) {
    if (errno != EEXIST) return std::nullopt;
    // Of an earlier process with this pid.
    remove_at(parent.get(), name.c_str());
    if (::mkdirat(parent.get(), name.c_str(), kMode) != 0) return std::nullopt;
  }
  if (has_other_children(parent.get())) remove_abandoned(parent.get());
  Fd dir(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  OwnCgroup own(std::move(parent), std::move(dir), name);
  if (!own.dir_) return std::nullopt;
  return own;
}

OwnCgroup::~OwnCgroup() {
  if (!parent_) return;
  dir_.reset();
  remove_at(parent_.get(), name_.c_str());
}

bool OwnCgroup::kill() const {
  const Fd file(::openat(fd(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), "1", 1) == 1;
}

bool OwnCgroup::is_populated() const {
  return read_file_at(fd(), "cgroup.events").find("populated 0") == std::string::npos;
}

}  // namespace cronlatch
