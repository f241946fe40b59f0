// SPDX-License-Identifier: Apache-2.0
#include "support/stopped_thread.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/program.h"

namespace cronlatch::testing {
namespace {

pid_t find_thread(pid_t pid, const std::string& name) {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/task");
  for (const auto& entry : all)
    if (read_file(entry.path().string() + "/comm") == name + "\n")
      return std::atoi(entry.path().filename().c_str());
  return 0;
}

// Elsewhere it can have the lock of the allocator or of the log, and every other thread would stop.
bool waits(pid_t thread) {
  const std::string call = read_file("/proc/" + std::to_string(thread) + "/syscall");
  const long number =
      std::isdigit(static_cast<unsigned char>(call[0])) ? std::atol(call.c_str()) : -1;
  for (const long wait : {
           SYS_futex,
           SYS_ppoll,
           SYS_epoll_pwait,
           SYS_clock_nanosleep,
#ifdef SYS_poll  // arm64 has only the calls with a signal mask
           SYS_poll,
           SYS_epoll_wait,
#endif
       })
    if (number == wait) return true;
  return false;
}

bool stop(pid_t thread) {
  int status = 0;
  return ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 &&
         ::waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status);
}

}  // namespace

StoppedThread::StoppedThread(pid_t pid, const std::string& name) {
  // A thread sets its name after its start.
  const auto found = [&] { return (thread_ = find_thread(pid, name)) != 0; };
  if (!eventually(found)) {
    error_ = "process " + std::to_string(pid) + " has no thread " + name;
    return;
  }
  if (::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0) {
    error_ = "ptrace: " + std::string(std::strerror(errno));
    thread_ = 0;
    return;
  }
  const bool is_stopped = eventually([this] {
    if (!stop(thread_)) return false;
    if (waits(thread_)) return true;
    ::ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
    return false;
  });
  if (!is_stopped) error_ = "the thread did not stop in a system call that waits";
}

StoppedThread::~StoppedThread() {
  if (thread_ != 0) ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
}

}  // namespace cronlatch::testing
