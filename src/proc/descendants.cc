// SPDX-License-Identifier: Apache-2.0
// A scan of /proc/<pid>/stat. /proc/<pid>/task/<tid>/children would be cheaper, but not every
// kernel has it and it may skip children while siblings exit (proc(5)).
#include "proc/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "proc/fd.h"

namespace cronlatch {
namespace {

using Table = std::vector<Process>;  // sorted by pid

constexpr int kMaxScans = 3;

const Process* find(const Table& table, pid_t pid) {
  const auto at = std::lower_bound(table.begin(), table.end(), pid,
                                   [](const Process& p, pid_t wanted) { return p.pid < wanted; });
  return at != table.end() && at->pid == pid ? &*at : nullptr;
}

// Our pid as this /proc has it: another number, or none, means that it belongs to another PID
// namespace.
bool proc_is_ours() {
  std::array<char, 32> link{};
  const ssize_t n = ::readlink("/proc/self", link.data(), link.size() - 1);
  return n > 0 &&
         std::string_view(link.data(), static_cast<std::size_t>(n)) == std::to_string(::getpid());
}

template <class Number>
bool take(std::string_view& text, Number& into) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

// "pid (any name) S ppid pgrp ...": the name may hold spaces and parentheses, so fields are counted
// from its last one.
std::optional<Process> parse_stat(pid_t pid, std::string_view text) {
  const std::size_t name_ends = text.rfind(") ");
  if (name_ends == std::string_view::npos || text.size() < name_ends + 4) return std::nullopt;
  text.remove_prefix(name_ends + 3);
  Process p{.pid = pid};
  constexpr int kFieldsBetweenGroupAndStart = 16;
  std::int64_t skipped = 0;
  if (!take(text, p.parent) || !take(text, p.group)) return std::nullopt;
  for (int i = 0; i < kFieldsBetweenGroupAndStart; ++i)
    if (!take(text, skipped)) return std::nullopt;
  if (!take(text, p.born)) return std::nullopt;
  return p;
}

std::optional<Table> scan() {
  if (!proc_is_ours()) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), &::closedir);
  if (!dir) return std::nullopt;
  Table table;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    if (const std::optional<Process> p = read_process(pid)) table.push_back(*p);
  }
  std::sort(table.begin(), table.end(),
            [](const Process& a, const Process& b) { return a.pid < b.pid; });
  return table;
}

enum class Kin { ours, not_ours, broken };

// Climbs from `p` to `root`. Broken: an ancestor ended while we read, and the process has another
// parent by now.
Kin kin_of(const Process& p, pid_t root, const Table& table,
           const std::vector<Process>& strangers) {
  const Process* at = &p;
  for (std::size_t steps = 0; steps <= table.size(); ++steps) {
    for (const Process& stranger : strangers)
      if (stranger.same_as(*at)) return Kin::not_ours;
    if (at->parent == root) return Kin::ours;
    if (at->parent == 0) return Kin::not_ours;
    at = find(table, at->parent);
    if (at == nullptr) return Kin::broken;
  }
  return Kin::broken;
}

}  // namespace

std::optional<Process> read_process(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return std::nullopt;
  std::array<char, 1024> text{};
  const ssize_t n = ::read(fd.get(), text.data(), text.size());
  if (n <= 0) return std::nullopt;
  return parse_stat(pid, {text.data(), static_cast<std::size_t>(n)});
}

std::optional<std::vector<Process>> descendants_of(pid_t root,
                                                   const std::vector<Process>& strangers) {
  std::vector<Process> found;
  for (int scans = 0; scans < kMaxScans; ++scans) {
    const std::optional<Table> table = scan();
    if (!table) return std::nullopt;
    found.clear();
    bool complete = true;
    for (const Process& p : *table) {
      const Kin kin = p.pid == root ? Kin::not_ours : kin_of(p, root, *table, strangers);
      if (kin == Kin::ours) found.push_back(p);
      if (kin == Kin::broken) complete = false;
    }
    if (complete) break;
  }
  return found;
}

void signal_process(const Process& process, int signo) {
  const Fd pin(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pin.open() && errno == ESRCH) return;
  // The pidfd pins whoever has the number now; only then is it worth asking who that is.
  const std::optional<Process> now = read_process(process.pid);
  if (!now || !now->same_as(process)) return;
  if (pin.open() && ::syscall(SYS_pidfd_send_signal, pin.get(), signo, nullptr, 0) == 0) return;
  if (!pin.open() || errno == ENOSYS) ::kill(process.pid, signo);
}

}  // namespace cronlatch
