// SPDX-License-Identifier: Apache-2.0
// Starting, reading and ending programs under test.
#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cronlatch::testing {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void broken(const char* what) {
  std::perror(what);
  std::abort();
}

struct Ends {
  int parent_end = -1, child_end = -1;
};

enum class Flow { to_program, from_program };

Ends make_pipe(Flow flow) {
  std::array<int, 2> p{};
  if (::pipe2(p.data(), O_CLOEXEC) != 0) broken("pipe2");
  if (flow == Flow::to_program) return {p[1], p[0]};
  return {p[0], p[1]};
}

Ends make_terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::array<char, 64> name{};
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
      ::ptsname_r(master, name.data(), name.size()) != 0)
    broken("terminal");
  return {master, ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& w : words) out.push_back(const_cast<char*>(w.c_str()));
  out.push_back(nullptr);
  return out;
}

void set_signals(const ProgramSpec& spec) {
  for (int signo = 1; signo < 32; ++signo)
    if (signo != SIGKILL && signo != SIGSTOP) std::signal(signo, SIG_DFL);
  for (const int signo : spec.ignored) std::signal(signo, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signo : spec.blocked) sigaddset(&blocked, signo);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

[[noreturn]] void become(const ProgramSpec& spec, std::array<int, 3> stdio, char* const* argv,
                         char* const* env) {
  set_signals(spec);
  if (spec.stdio == Stdio::terminal) {
    ::setsid();
    ::ioctl(stdio[0], TIOCSCTTY, 0);
  }
  for (int fd = 0; fd < 3; ++fd)
    if (stdio[static_cast<std::size_t>(fd)] >= 0) ::dup2(stdio[static_cast<std::size_t>(fd)], fd);
  if (spec.stdio == Stdio::all_closed)
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (const int fd : spec.closed) ::close(fd);
  for (const int fd : spec.inherited) ::fcntl(fd, F_SETFD, 0);
  ::execve(spec.argv[0].c_str(), argv, env);
  ::_exit(126);
}

// Appends the available bytes; false at the end of the file.
bool drain(int fd, std::string& into) {
  std::array<char, 8192> buffer{};
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n > 0) into.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

char state_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = stat.rfind(") ");
  return end == std::string::npos ? '\0' : stat[end + 2];
}

}  // namespace

std::string talking_child() { return CRONLATCH_TALKING_CHILD; }

ScratchDir::ScratchDir() {
  std::string name = "/tmp/cronlatch-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) broken("mkdtemp");
  path_ = name;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDir::path(const std::string& name) const {
  return name.empty() ? path_ : path_ + "/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_alive(pid_t pid) {
  const char state = state_of(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

std::int64_t boottime_us() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1'000;
}

Program::Program(const ProgramSpec& spec) {
  std::array<Ends, 3> ends{};
  std::array<int, 3> child_end{-1, -1, -1};
  if (spec.stdio == Stdio::terminal) {
    ends[0] = make_terminal();
    child_end = {ends[0].child_end, ends[0].child_end, ends[0].child_end};
  } else if (spec.stdio == Stdio::pipes) {
    ends = {make_pipe(Flow::to_program), make_pipe(Flow::from_program),
            make_pipe(Flow::from_program)};
    for (std::size_t i = 0; i < 3; ++i) child_end[i] = ends[i].child_end;
  }
  std::vector<std::string> words = spec.argv;
  if (!spec.name.empty()) words[0] = spec.name;
  const std::vector<char*> argv = pointers(words), env = pointers(spec.env);
  pid_ = ::fork();
  if (pid_ == 0) become(spec, child_end, argv.data(), env.data());
  if (pid_ < 0) broken("fork");
  for (Ends& e : ends) close_fd(e.child_end);
  in_ = ends[0].parent_end;
  out_fd_ = spec.stdio == Stdio::terminal ? ::fcntl(in_, F_DUPFD_CLOEXEC, 0) : ends[1].parent_end;
  err_fd_ = ends[2].parent_end;
}

Program::~Program() {
  if (!code_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_fd(in_);
  close_fd(out_fd_);
  close_fd(err_fd_);
}

void Program::signal(int signo) const { ::kill(pid_, signo); }

void Program::type(const std::string& text) const {
  if (::write(in_, text.data(), text.size()) < 0) std::perror("type");
}

void Program::close_input() { close_fd(in_); }

void Program::stop_listening() {
  close_fd(out_fd_);
  close_fd(err_fd_);
}

void Program::pump(std::chrono::milliseconds wait) {
  std::array<pollfd, 2> fds{{{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(wait.count())) <= 0) return;
  if (fds[0].revents != 0 && !drain(out_fd_, out_)) close_fd(out_fd_);
  if (fds[1].revents != 0 && !drain(err_fd_, err_)) close_fd(err_fd_);
}

bool Program::until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    if (condition()) return true;
    if (Clock::now() >= end) return false;
    pump(5ms);
  }
}

bool Program::says(const std::string& text, std::chrono::milliseconds limit) {
  return until([&] { return out_.find(text) != std::string::npos; }, limit);
}

bool Program::complains(const std::string& text, std::chrono::milliseconds limit) {
  return until([&] { return err_.find(text) != std::string::npos; }, limit);
}

std::string Program::word_after(const std::string& key) const {
  const std::size_t at = out_.rfind(key);
  if (at == std::string::npos) return "";
  const std::size_t from = at + key.size();
  return out_.substr(from, out_.find_first_of(" \r\n", from) - from);
}

pid_t Program::pid_after(const std::string& key) {
  (void)until([&] {
    const std::size_t at = out_.rfind(key);
    return at != std::string::npos && out_.find('\n', at) != std::string::npos;
  });
  const int pid = std::atoi(word_after(key).c_str());
  if (pid <= 1) broken("the output contains no process id");
  return pid;
}

std::optional<int> Program::exit_code(std::chrono::milliseconds limit) {
  (void)until(
      [this] {
        int status = 0;
        if (code_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return code_.has_value();
        code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        return true;
      },
      limit);
  // Its output is in the pipe now. Other processes may have the write end open, so waiting for the
  // end of the file could hang.
  for (std::size_t before = 0; code_;) {
    before = out_.size() + err_.size();
    pump(0ms);
    if (out_.size() + err_.size() == before) break;
  }
  return code_;
}

bool Program::stopped(std::chrono::milliseconds limit) const {
  return eventually([this] { return state_of(pid_) == 'T'; }, limit);
}

std::string output_of(const ProgramSpec& spec) {
  Program program(spec);
  if (program.exit_code(kPatience * 3) == 0) return program.out();
  std::fprintf(stderr, "%s failed:\n%s\n", spec.argv[0].c_str(), program.err().c_str());
  std::abort();
}

}  // namespace cronlatch::testing
