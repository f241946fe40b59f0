// SPDX-License-Identifier: Apache-2.0
// posix_spawn, and what a child of ours must not inherit.
#include "plugin/kubectl_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace cronlatch::plugin {
namespace {

constexpr int kKilled = 128;

struct Pipe {
  End read, write;
  static Pipe make() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
    return {End(ends[0]), End(ends[1])};
  }
};

// What the child is born with. The pipes' other ends close themselves at exec.
class Actions {
 public:
  Actions() { posix_spawn_file_actions_init(&actions_); }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void connect(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// We ignore SIGPIPE; what we start must not inherit that.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

Error cannot_run(const std::string& program, int number) {
  return {number == ENOENT ? Code::exec_missing : Code::exec_denied,
          "cannot run " + cronlatch::quoted(program) + ": " + std::strerror(number),
          "the plugin asks the cluster through kubectl; install it, or name it with --kubectl"};
}

}  // namespace

void End::shut() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Running::~Running() {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  reap();
}

void Running::reap() {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
}

Result<Running> start_kubectl(const KubectlSpec& spec, const KubectlCall& call) {
  std::vector<std::string> words = {spec.program};
  words.insert(words.end(), spec.flags.begin(), spec.flags.end());
  words.insert(words.end(), call.words.begin(), call.words.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Running running;
  Pipe in, out = Pipe::make(), complaints;
  Actions actions;
  actions.connect(out.write.get(), STDOUT_FILENO);
  if (!call.input.empty()) {
    in = Pipe::make();
    actions.connect(in.read.get(), STDIN_FILENO);
  }
  if (call.complaints == KubectlCall::Complaints::kept) {
    complaints = Pipe::make();
    actions.connect(complaints.write.get(), STDERR_FILENO);
  }
  const Attributes attributes;
  const int failed = posix_spawnp(&running.pid, spec.program.c_str(), actions.get(),
                                  attributes.get(), argv.data(), environ);
  if (failed != 0) {
    running.pid = 0;
    return cannot_run(spec.program, failed);
  }
  running.in = std::move(in.write);
  running.out = std::move(out.read);
  running.complaints = std::move(complaints.read);
  running.left_to_write = call.input;
  if (running.in.open()) fcntl(running.in.get(), F_SETFL, O_NONBLOCK);
  return running;
}

}  // namespace cronlatch::plugin
