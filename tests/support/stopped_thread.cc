// SPDX-License-Identifier: Apache-2.0
#include "support/stopped_thread.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

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
  int status = 0;
  if (::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0 ||
      ::waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status))
    error_ = "the thread did not stop: " + std::string(std::strerror(errno));
}

StoppedThread::~StoppedThread() {
  if (thread_ != 0) ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
}

}  // namespace cronlatch::testing
