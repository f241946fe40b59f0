// SPDX-License-Identifier: Apache-2.0
// A scan of /proc/<pid>/stat. /proc/<pid>/task/<tid>/children would be cheaper, but not every
// kernel has it and it may skip children while siblings exit (proc(5)).
#include "proc/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace cronlatch {
namespace {

constexpr int kMaxReads = 3;

template <class Number>
bool take(std::string_view& text, Number& into) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

bool skip(std::string_view& text, int fields) {
  std::int64_t skipped = 0;
  for (int i = 0; i < fields; ++i)
    if (!take(text, skipped)) return false;
  return true;
}

// "pid (any name) S ppid pgrp ...": the name may hold spaces and parentheses, so fields are counted
// from its last one (proc(5)).
std::optional<Process> parse_stat(pid_t pid, std::string_view text) {
  const std::size_t name_ends = text.rfind(") ");
  if (name_ends == std::string_view::npos || text.size() < name_ends + 4) return std::nullopt;
  const char state = text[name_ends + 2];
  text.remove_prefix(name_ends + 3);
  Process p{.pid = pid};
  constexpr int kFieldsBetweenGroupAndThreads = 14;
  constexpr int kFieldsBetweenThreadsAndStart = 1;
  long threads = 0;
  if (!take(text, p.parent) || !take(text, p.group)) return std::nullopt;
  if (!skip(text, kFieldsBetweenGroupAndThreads) || !take(text, threads)) return std::nullopt;
  if (!skip(text, kFieldsBetweenThreadsAndStart) || !take(text, p.start_time)) return std::nullopt;
  // The state is that of the first thread; the process lives while another one does.
  p.alive = threads > 1 || (state != 'Z' && state != 'X');
  p.stopped = state == 'T' || state == 't';
  return p;
}

// Every pid of this PID namespace, the newest numbers first: what forks without pause is read
// before it has ended.
std::optional<std::vector<pid_t>> list_pids() {
  if (!proc_shows_own_namespace()) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), &::closedir);
  if (!dir) return std::nullopt;
  std::vector<pid_t> pids;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec == std::errc())
      pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end(), std::greater<>());
  return pids;
}

std::string read_all(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> part{};
  for (ssize_t n = 0; fd && (n = ::read(fd.get(), part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

// Another number, or none, means that this /proc belongs to another PID namespace.
bool proc_shows_own_namespace() {
  std::array<char, 32> link{};
  const ssize_t n = ::readlink("/proc/self", link.data(), link.size() - 1);
  return n > 0 &&
         std::string_view(link.data(), static_cast<std::size_t>(n)) == std::to_string(::getpid());
}

std::optional<std::size_t> tasks_of_host() {
  // "0.20 0.18 0.12 1/80 11206": the number behind the slash (proc(5)).
  const std::string load = read_all("/proc/loadavg");
  std::size_t tasks = 0;
  if (const std::size_t slash = load.find('/');
      slash != std::string::npos &&
      std::from_chars(load.data() + slash + 1, load.data() + load.size(), tasks).ec == std::errc())
    return tasks;
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return std::nullopt;
  return info.procs;
}

std::optional<Process> read_process(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::array<char, 1024> text{};
  const ssize_t n = ::read(fd.get(), text.data(), text.size());
  if (n <= 0) return std::nullopt;
  return parse_stat(pid, {text.data(), static_cast<std::size_t>(n)});
}

bool DescendantScan::is_new(pid_t pid) const {
  if (pid == root_) return false;
  if (const auto at = seen_.find(pid); at != seen_.end() && at->second.returned) return false;
  return done_group_ == 0 || ::getpgid(pid) != done_group_;
}

DescendantScan::Entry* DescendantScan::read(pid_t pid) {
  const std::optional<Process> process = read_process(pid);
  if (!process) return nullptr;
  return &seen_.insert_or_assign(pid, Entry{*process}).first->second;
}

bool DescendantScan::is_excluded(const Process& process) const {
  return std::any_of(excluded_.begin(), excluded_.end(),
                     [&process](const Process& other) { return other.same_as(process); });
}

// Climbs to `root` and remembers the answer for everything on the way. Unknown: an ancestor ended
// meanwhile, and the process has another parent by now.
DescendantScan::Kinship DescendantScan::kinship_of(Entry& entry) {
  std::vector<Entry*> climbed;
  Kinship kinship = Kinship::unknown;
  for (Entry* at = &entry; kinship == Kinship::unknown && climbed.size() <= seen_.size();) {
    climbed.push_back(at);
    if (at->kinship != Kinship::unknown) {
      kinship = at->kinship;
    } else if (is_excluded(at->process) || at->process.parent == 0) {
      kinship = Kinship::not_descendant;
    } else if (at->process.parent == root_) {
      kinship = Kinship::descendant;
    } else {
      const auto parent = seen_.find(at->process.parent);
      at = parent != seen_.end() ? &parent->second : read(at->process.parent);
      if (at == nullptr) return Kinship::unknown;
    }
  }
  for (Entry* at : climbed) at->kinship = kinship;
  return kinship;
}

std::optional<std::vector<Process>> DescendantScan::next() {
  const std::optional<std::vector<pid_t>> pids = list_pids();
  if (!pids) return std::nullopt;
  std::vector<pid_t> pending;
  for (const pid_t pid : *pids)
    if (is_new(pid)) pending.push_back(pid);
  std::vector<Process> found;
  for (int reads = 0; reads < kMaxReads && !pending.empty(); ++reads) {
    std::vector<Entry*> entries;
    for (const pid_t pid : pending)
      if (Entry* const entry = read(pid)) entries.push_back(entry);
    pending.clear();
    for (Entry* const entry : entries) {
      const Kinship kinship = kinship_of(*entry);
      entry->returned = kinship != Kinship::unknown;
      if (kinship == Kinship::descendant) found.push_back(entry->process);
      if (kinship == Kinship::unknown) pending.push_back(entry->process.pid);
    }
  }
  return found;
}

std::optional<std::vector<Process>> descendants_of(pid_t root,
                                                   const std::vector<Process>& excluded) {
  return DescendantScan(root, excluded).next();
}

std::vector<pid_t> own_children() {
  const std::string self = std::to_string(::getpid());
  const std::string text = read_all("/proc/" + self + "/task/" + self + "/children");
  std::vector<pid_t> children;
  pid_t pid = 0;
  for (std::string_view rest = text; take(rest, pid);) children.push_back(pid);
  return children;
}

bool signal_process(const Process& process, int signo) {
  const Fd pin(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pin && errno == ESRCH) return false;
  // The pidfd pins the process that has the number now; only then is it worth reading which one.
  const std::optional<Process> now = read_process(process.pid);
  if (!now || !now->same_as(process)) return false;
  if (pin && ::syscall(SYS_pidfd_send_signal, pin.get(), signo, nullptr, 0) == 0) return true;
  return (!pin || errno == ENOSYS) && ::kill(process.pid, signo) == 0;
}

}  // namespace cronlatch
