// SPDX-License-Identifier: Apache-2.0
#include "registry/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/pipe.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kPollInterval{100};  // the longest delay after a request to stop
constexpr std::size_t kMaxStderrBytes = 16 * 1024;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// The attribute objects of posix_spawn(3).
struct SpawnOptions {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  SpawnOptions(int out, int err) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    // Some libraries open descriptors without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
};

class Child {
 public:
  static Result<Child> start(const ChildConfig& config, int out, int err) {
    SpawnOptions options(out, err);
    std::vector<std::string> argv = config.argv;
    std::vector<std::string> environment = config.environment;
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, argv.front().c_str(), &options.files, &options.attributes,
                                   pointers(argv).data(), pointers(environment).data());
    if (failed != 0)
      return Error{failed == ENOENT ? Code::exec_missing : Code::system,
                   "cannot start " + argv.front() + ": " + std::strerror(failed)};
    set_limits(pid, config.memory);
    return Child(pid);
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ != 0) kill_and_reap();
  }

  // Kills the process group and reaps the child. Until then its process ID cannot be reused.
  int kill_and_reap() {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  bool has_exited() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  static void set_limits(pid_t pid, std::size_t memory) {
    const rlimit data{memory, memory};
    const rlimit none{0, 0};
    ::prlimit(pid, RLIMIT_DATA, &data, nullptr);
    ::prlimit(pid, RLIMIT_CORE, &none, nullptr);
  }
  pid_t pid_;
};

// False at the end of the stream.
bool read_some(const Fd& from, std::string& into) {
  std::array<char, 16 * 1024> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

Millis poll_time(TimePoint deadline, const Clock& clock) {
  const auto left = std::chrono::ceil<Millis>(deadline - clock.now());
  return std::clamp(left, Millis(0), kPollInterval);
}

}  // namespace

Result<ChildResult> run_child_process(const ChildConfig& config, const Clock& clock,
                                      const std::stop_token& stop) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  if (!out || !err)
    return Error{Code::system, std::string("cannot create a pipe: ") + std::strerror(errno)};
  auto child = Child::start(config, out.write.get(), err.write.get());
  if (!child) return child.error();
  out.write.reset();
  err.write.reset();
  ChildResult result;
  while (out.read || err.read) {
    if (stop.stop_requested()) return Error{Code::unreachable, "the operator is stopping"};
    if (clock.now() >= config.deadline) return Error{Code::unreachable, "the lookup timed out"};
    std::array<pollfd, 2> polled = {
        {{out.read.get(), POLLIN, 0},
         {err.read.get(), POLLIN, 0}}};  // poll(2) ignores the descriptor -1
    if (::poll(polled.data(), polled.size(),
               static_cast<int>(poll_time(config.deadline, clock).count())) < 0 &&
        errno != EINTR)
      return Error{Code::system, std::string("poll: ") + std::strerror(errno)};
    if (polled[0].revents != 0 && !read_some(out.read, result.out)) out.read.reset();
    if (polled[1].revents != 0 && !read_some(err.read, result.err)) err.read.reset();
    if (result.out.size() > config.max_output)
      return Error{Code::unreachable,
                   "the response is larger than " + std::to_string(config.max_output) + " bytes"};
    if (!config.kill_at.empty() && result.err.find(config.kill_at) != std::string::npos) break;
    if (result.err.size() > kMaxStderrBytes)
      result.err.erase(0, result.err.size() - kMaxStderrBytes);
  }
  // The child may still run after it has closed its output.
  while (!out.read && !err.read && !child->has_exited() && clock.now() < config.deadline &&
         !stop.stop_requested())
    ::poll(nullptr, 0, 1);
  result.exit_code = child->kill_and_reap();
  return result;
}

}  // namespace cronlatch::registry
