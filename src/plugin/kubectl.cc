// SPDX-License-Identifier: Apache-2.0
// posix_spawn and one poll loop over all pipes. SIGPIPE is ignored by the program already: a call
// that does not read its input is its own business.
#include "plugin/kubectl.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

constexpr std::size_t kBlock = 65'536;
constexpr std::size_t kMostComplaints = 65'536;
constexpr int kKilled = 128;

// One end of a pipe, closed once.
class End {
 public:
  explicit End(int fd = -1) : fd_(fd) {}
  End(End&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  End& operator=(End&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~End() { shut(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void shut() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct Pipe {
  End read, write;
  static Pipe make() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
    return {End(ends[0]), End(ends[1])};
  }
};

class Running {
 public:
  Running() = default;
  Running(Running&& other) noexcept
      : pid(std::exchange(other.pid, 0)),
        in(std::move(other.in)),
        out(std::move(other.out)),
        complaints(std::move(other.complaints)),
        left_to_write(other.left_to_write),
        answer(std::move(other.answer)) {}
  Running& operator=(Running&&) = delete;
  ~Running() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    reap();
  }
  void reap() {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = 0;
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
  }
  bool talks() const { return out.open() || complaints.open(); }

  pid_t pid = 0;
  End in, out, complaints;
  std::string_view left_to_write;
  KubectlAnswer answer;
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

Result<Running> start(const KubectlSpec& spec, const KubectlCall& call) {
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

void write_some(Running& running) {
  const ssize_t written =
      write(running.in.get(), running.left_to_write.data(), running.left_to_write.size());
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (written > 0) running.left_to_write.remove_prefix(static_cast<std::size_t>(written));
  if (written <= 0 || running.left_to_write.empty()) running.in.shut();
}

void read_some(End& end, std::string& text) {
  std::array<char, kBlock> block;
  const ssize_t got = read(end.get(), block.data(), block.size());
  if (got > 0)
    text.append(block.data(), static_cast<std::size_t>(got));
  else if (got == 0 || errno != EINTR)
    end.shut();
}

// Waits for any of them and moves the bytes that are there.
void turn(std::vector<Running>& all, Millis patience) {
  std::vector<pollfd> fds;
  const auto add = [&fds](const End& end, short events) {
    if (end.open()) fds.push_back({end.get(), events, 0});
  };
  for (const Running& running : all) {
    add(running.in, POLLOUT);
    add(running.out, POLLIN);
    add(running.complaints, POLLIN);
  }
  if (poll(fds.data(), fds.size(), static_cast<int>(patience.count())) <= 0) return;
  const auto ready = [&fds](const End& end) {
    return end.open() && std::any_of(fds.begin(), fds.end(), [&](const pollfd& f) {
             return f.fd == end.get() && f.revents != 0;
           });
  };
  for (Running& running : all) {
    if (ready(running.in)) write_some(running);
    if (ready(running.out)) read_some(running.out, running.answer.out);
    if (ready(running.complaints)) {
      read_some(running.complaints, running.answer.complaints);
      // The rest of a flood is read and dropped: a full pipe would stop it half way.
      if (running.answer.complaints.size() > kMostComplaints)
        running.answer.complaints.resize(kMostComplaints);
    }
  }
}

}  // namespace

Result<std::vector<KubectlAnswer>> RealKubectl::ask(const std::vector<KubectlCall>& calls) {
  const TimePoint give_up = clock_.now() + spec_.deadline;
  std::vector<Running> all;
  for (const KubectlCall& call : calls) {
    Result<Running> running = start(spec_, call);
    if (!running) return running.error();
    all.push_back(std::move(running).value());
  }
  const auto talks = [](const Running& running) { return running.talks(); };
  while (std::any_of(all.begin(), all.end(), talks)) {
    const auto left = std::chrono::duration_cast<Millis>(give_up - clock_.now());
    if (left.count() <= 0)
      return Error{Code::unreachable,
                   spec_.program + " has not answered within " +
                       std::to_string(spec_.deadline.count() / 1'000) + " s",
                   "does `kubectl get namespaces` answer?"};
    turn(all, left);
    for (const Running& running : all)
      if (running.answer.out.size() > spec_.most)
        return Error{
            Code::config,
            spec_.program + " prints more than " + std::to_string(spec_.most >> 20) + " MiB",
            "look at one namespace: -n NAMESPACE"};
  }
  std::vector<KubectlAnswer> answers;
  for (Running& running : all) {
    running.reap();
    answers.push_back(std::move(running.answer));
  }
  return answers;
}

}  // namespace cronlatch::plugin
