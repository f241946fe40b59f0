// SPDX-License-Identifier: Apache-2.0
// Reads /proc/locks first, then the descriptors of every visible process. In a PID namespace the
// table omits locks of dead processes, and on btrfs and overlay its device numbers differ from
// those of stat(2).
#include "store/file/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/fd.h"

namespace cronlatch::file {
namespace {

// PIDFD_GET_PID_NAMESPACE of linux/pidfd.h, which older headers do not have.
constexpr unsigned long kPidfdGetPidNamespace = _IO(0xFF, 5);

std::optional<std::string> read_all(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t n = read(fd.get(), part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(part, static_cast<std::size_t>(n));
  }
}

std::vector<std::string> numbers_in(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(directory.c_str()), closedir);
  if (!dir) return names;
  while (const dirent* entry = readdir(dir.get()))
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') names.emplace_back(entry->d_name);
  return names;
}

bool alive(long pid) {
  return pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// A process is a holder only when its open file description has the lock: other runs have the file
// open too.
long find_by_descriptor(const std::string& proc, const struct stat& file) {
  for (const std::string& pid : numbers_in(proc)) {
    const std::string of_process = proc + "/" + pid;
    for (const std::string& fd : numbers_in(of_process + "/fd")) {
      struct stat st {};
      if (stat((of_process + "/fd/" + fd).c_str(), &st) != 0) continue;
      if (st.st_dev != file.st_dev || st.st_ino != file.st_ino) continue;
      const auto details = read_all(of_process + "/fdinfo/" + fd);
      if (details && details->find("FLOCK") != std::string::npos)
        return strtol(pid.c_str(), nullptr, 10);
    }
  }
  return 0;
}

}  // namespace

std::vector<Flock> parse_locks(std::string_view text) {
  std::vector<Flock> locks;
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Flock one;
    unsigned long inode = 0;
    // "1: FLOCK  ADVISORY  WRITE 6404 fe:00:9978182 0 EOF"; a waiter's line has "->" before FLOCK.
    if (sscanf(line.c_str(), "%*d: FLOCK %*s %*s %ld %x:%x:%lu", &one.pid, &one.major, &one.minor,
               &inode) != 4)
      continue;
    one.inode = inode;
    locks.push_back(one);
  }
  return locks;
}

HolderTable::HolderTable(std::string proc) : proc_(std::move(proc)) {
  if (const auto text = read_all(proc_ + "/locks")) {
    readable_ = true;
    locks_ = parse_locks(*text);
  }
}

Holder HolderTable::find(int directory, const std::string& lock_file,
                         std::uint64_t pid_namespace) const {
  struct stat file {};
  if (fstatat(directory, lock_file.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0)
    return {errno == ENOENT ? KernelLockState::free : KernelLockState::unknown, 0};
  if (!readable_) return {KernelLockState::unknown, 0};
  for (const Flock& lock : locks_) {
    if (lock.inode != file.st_ino || lock.major != major(file.st_dev) ||
        lock.minor != minor(file.st_dev))
      continue;
    return {KernelLockState::held, alive(lock.pid) ? lock.pid : find_by_descriptor(proc_, file)};
  }
  if (pid_namespace == 0) return {KernelLockState::unknown, 0};
  if (const long pid = find_by_descriptor(proc_, file); pid != 0)
    return {KernelLockState::held, pid};
  const bool all_visible = pid_namespace == own_pid_namespace();
  return {all_visible ? KernelLockState::free : KernelLockState::unknown, 0};
}

// A lookup in /proc makes the kernel build the process's directory there, which costs more than
// taking the lock. Since Linux 6.11 a pidfd returns the namespace directly; its argument must be 0.
std::uint64_t own_pid_namespace() {
  struct stat st {};
  const Fd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  const Fd pid_namespace(self ? ioctl(self.get(), kPidfdGetPidNamespace, 0) : -1);
  if (pid_namespace && fstat(pid_namespace.get(), &st) == 0) return st.st_ino;
  return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

}  // namespace cronlatch::file
