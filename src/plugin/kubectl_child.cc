// SPDX-License-Identifier: Apache-2.0
// Starts kubectl with posix_spawn.
#include "plugin/kubectl_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/pipe.h"
#include "base/text.h"

extern "C" char** environ;  // no header of macOS declares it

namespace cronlatch::plugin {
namespace {

constexpr int kSignalBase = 128;

// The child's standard streams. The other ends of the pipes are closed at exec.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void connect(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The program ignores SIGPIPE; the child must not inherit that.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

Error cannot_run(const std::string& program, int number) {
  return {number == ENOENT ? Code::exec_missing : Code::exec_denied,
          "cannot run " + cronlatch::quoted(program) + ": " + std::strerror(number),
          "the plugin runs kubectl; install it, or set its path with --kubectl"};
}

}  // namespace

KubectlChild::~KubectlChild() {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  reap();
}

void KubectlChild::reap() {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

Result<KubectlChild> start_kubectl(const KubectlSpec& spec, const KubectlCall& call) {
  std::vector<std::string> args = {spec.program};
  args.insert(args.end(), spec.flags.begin(), spec.flags.end());
  args.insert(args.end(), call.args.begin(), call.args.end());
  std::vector<char*> argv;
  for (std::string& word : args) argv.push_back(word.data());
  argv.push_back(nullptr);

  KubectlChild child;
  Pipe in, out = make_pipe(), error_output;
  SpawnActions actions;
  actions.connect(out.write.get(), STDOUT_FILENO);
  if (!call.input.empty()) {
    in = make_pipe();
    actions.connect(in.read.get(), STDIN_FILENO);
  }
  if (call.error_output == KubectlCall::ErrorOutput::captured) {
    error_output = make_pipe();
    actions.connect(error_output.write.get(), STDERR_FILENO);
  }
  const SpawnAttributes attributes;
  const int failed = posix_spawnp(&child.pid, spec.program.c_str(), actions.get(), attributes.get(),
                                  argv.data(), environ);
  if (failed != 0) {
    child.pid = 0;
    return cannot_run(spec.program, failed);
  }
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.error_output = std::move(error_output.read);
  child.unwritten_input = call.input;
  if (child.in) fcntl(child.in.get(), F_SETFL, O_NONBLOCK);
  return child;
}

}  // namespace cronlatch::plugin
