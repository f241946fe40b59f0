// SPDX-License-Identifier: Apache-2.0
// Starts a subject, measures its duration and its memory. See subject.h.
#include "subject.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

namespace bench {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      read = ends[0];
      write = ends[1];
    }
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() {
    if (read >= 0) close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

enum class Stderr { discarded, inherited };

// The process id, or -1. `in` and `out` become its stdin and stdout; -1: /dev/null.
pid_t start(const Subject& subject, const std::vector<std::string>& command, int in, int out,
            Stderr target) {
  std::vector<std::string> words = subject.gate;
  words.insert(words.end(), command.begin(), command.end());
  std::vector<std::string> env = subject.env;
  env.emplace_back("PATH=/usr/bin:/bin");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (in >= 0)
    posix_spawn_file_actions_adddup2(&files, in, 0);
  else
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  if (out >= 0)
    posix_spawn_file_actions_adddup2(&files, out, 1);
  else
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  if (target == Stderr::discarded)
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  if (posix_spawnp(&pid, words[0].c_str(), &files, nullptr, pointers(words).data(),
                   pointers(env).data()) != 0)
    pid = -1;
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

bool succeeded(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<long> high_water_mark(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stol(line.substr(6));
  return {};
}

std::optional<long> private_memory_of_child(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
  std::string child;
  std::ifstream(path + "/children") >> child;
  std::ifstream map("/proc/" + child + "/smaps_rollup");
  std::optional<long> kib;
  for (std::string line; std::getline(map, line);)
    if (line.rfind("Private_", 0) == 0)
      kib = kib.value_or(0) + std::stol(line.substr(line.find(':') + 1));
  return kib;
}

// `cat` under the gate of a subject. It exits when its stdin is closed.
struct RunningCat {
  Pipe to_command;
  Pipe from_command;
  pid_t pid;
  bool runs = false;  // it has returned a byte

  explicit RunningCat(const Subject& subject)
      : pid(start(subject, {"cat"}, to_command.read, from_command.write, Stderr::discarded)) {
    to_command.close_read();
    from_command.close_write();
    char byte = '!';
    runs = pid >= 0 && write(to_command.write, &byte, 1) == 1 &&
           read(from_command.read, &byte, 1) == 1;
  }
};

// What `read_of` returns while the command of the subject is running.
std::optional<long> while_running(const Subject& subject, std::optional<long> (*read_of)(pid_t)) {
  RunningCat cat(subject);
  if (cat.pid < 0) return {};
  const std::optional<long> kib = read_of(cat.pid);
  cat.to_command.close_write();
  return succeeded(cat.pid) && cat.runs ? kib : std::nullopt;
}

}  // namespace

std::optional<double> run_once(const Subject& subject, const std::vector<std::string>& command) {
  const auto before = std::chrono::steady_clock::now();
  const pid_t pid = start(subject, command, -1, -1, Stderr::discarded);
  const bool fine = pid > 0 && succeeded(pid);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  if (fine) return took.count();
  // Run it again with its stderr, which contains the reason.
  if (const pid_t again = start(subject, command, -1, -1, Stderr::inherited); again > 0)
    succeeded(again);
  return {};
}

std::optional<long> resident_while_running(const Subject& subject) {
  return while_running(subject, high_water_mark);
}

std::optional<long> child_private_while_running(const Subject& subject) {
  return while_running(subject, private_memory_of_child);
}

std::optional<double> command_ends_after_kill(const Subject& subject) {
  RunningCat cat(subject);
  if (cat.pid < 0) return {};
  const auto before = std::chrono::steady_clock::now();
  kill(cat.pid, SIGKILL);
  // The end of its output: no process has it open any more.
  char byte = 0;
  const bool ended = read(cat.from_command.read, &byte, 1) == 0;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  waitpid(cat.pid, nullptr, 0);
  if (!cat.runs || !ended) return {};
  return took.count();
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(p * last))];
}

}  // namespace bench
