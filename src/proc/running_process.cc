// SPDX-License-Identifier: Apache-2.0
#include "proc/running_process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <optional>

#include "proc/descendants.h"

namespace cronlatch {
namespace {

// "<inode of the namespace>."; empty when /proc does not show this process.
std::string own_namespace() {
  struct stat file {};
  if (!proc_shows_own_namespace() || ::stat("/proc/self/ns/pid", &file) != 0) return "";
  return std::to_string(file.st_ino) + '.';
}

template <class Number>
bool take_number(std::string_view& text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

}  // namespace

std::string running_process() {
  const std::string prefix = own_namespace();
  const std::optional<Process> self = prefix.empty() ? std::nullopt : read_process(::getpid());
  if (!self) return "";
  return prefix + std::to_string(self->pid) + '.' + std::to_string(self->start_time);
}

bool has_ended(std::string_view name) {
  const std::string prefix = own_namespace();
  if (prefix.empty() || !name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  Process named;
  if (!take_number(name, named.pid) || named.pid <= 0 || !name.starts_with('.')) return false;
  name.remove_prefix(1);
  if (!take_number(name, named.start_time) || !name.empty()) return false;
  const std::optional<Process> now = read_process(named.pid);
  // /proc can hide the processes of other users (hidepid).
  if (!now) return ::kill(named.pid, 0) != 0 && errno == ESRCH;
  return !now->same_as(named) || !now->alive;
}

}  // namespace cronlatch
