// SPDX-License-Identifier: Apache-2.0
// The command in process tests: executes the words of its command line in order and prints one line
// per fact, each in a single write. It does not link the product, so its output comes from the
// kernel.
//
//   to FILE        later lines go to FILE (appended) instead of standard output
//   say TEXT       the line TEXT
//   ids            "ids pid=.. ppid=.. pgrp=.. sid=.. foreground=yes|no|none"
//   fds            "fd N open" for every open descriptor, "fd N closed" for 0 to 2
//   close          closes every descriptor except that of `to`
//   env PREFIX     "env NAME=value" for every variable with this prefix
//   signals        "blocked HEX", "ignored HEX": the masks it was started with
//   read           waits for a line of standard input: "read LINE", or "eof"
//   ignore N       ignores signal N
//   on N [ .. ]    at signal N: executes the words in brackets in the handler
//   listen         blocks every signal, prints "ready", then "signal N" for each one, forever
//   beat           "beat MICROSECONDS" (CLOCK_BOOTTIME) every 20 ms, forever
//   beats NAME MS  "NAME MICROSECONDS" (CLOCK_BOOTTIME) every 20 ms for MS milliseconds, twice at
//   least sleep MS|forever await FILE     waits until FILE exists touch FILE spawn [ .. ]   a child
//   that executes the words in brackets, then exits 0: "spawned PID" daemon [ .. ]  the same in a
//   new session, no longer a child of this process chain FILE     a process that writes the time
//   into FILE (CLOCK_BOOTTIME, microseconds, 8
//                  bytes), forks and exits without pause, its child does the same, each in a
//                  new session, until FILE is removed
//   crowd N        N children that wait forever; "crowd of N" when all exist
//   sessions       each child of a later crowd gets a new session
//   replace        a child that waits, and a new one whenever it ends, forever
//   join           waits for every child
//   uid N          changes to that user
//   die N          sends signal N to itself
//   exit N
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Words = std::vector<std::string>;

struct State {
  int out = STDOUT_FILENO;
  std::map<int, Words> handlers;
  bool sessions = false;
};

// Global, because a signal handler has no parameter for its words.
State* g_state = nullptr;

void say(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(g_state->out, line.data(), line.size()) < 0 && errno == EPIPE) ::_exit(99);
}

int number(const std::string& word) { return std::atoi(word.c_str()); }

void pause_for(long ms) {
  timespec left{ms / 1000, (ms % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// Above 2, because 0 to 2 may be closed and are reported.
void go_to(const std::string& file) {
  constexpr int kHigh = 100;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  g_state->out = ::fcntl(fd, F_DUPFD_CLOEXEC, kHigh);
  ::close(fd);
}

void ids() {
  const int tty = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  const char* foreground = tty < 0 ? "none" : ::tcgetpgrp(tty) == ::getpgrp() ? "yes" : "no";
  if (tty >= 0) ::close(tty);
  say("ids pid=" + std::to_string(::getpid()) + " ppid=" + std::to_string(::getppid()) +
      " pgrp=" + std::to_string(::getpgrp()) + " sid=" + std::to_string(::getsid(0)) +
      " foreground=" + foreground);
}

void fds() {
  for (int fd = 0; fd < 256; ++fd) {
    const bool open = ::fcntl(fd, F_GETFD) >= 0;
    if (open || fd <= 2) say("fd " + std::to_string(fd) + (open ? " open" : " closed"));
  }
}

// Except that of `to`.
void close_all() {
  for (int fd = 0; fd < 256; ++fd)
    if (fd != g_state->out) ::close(fd);
}

void env(const std::string& prefix) {
  for (char** e = environ; *e != nullptr; ++e)
    if (std::string_view(*e).starts_with(prefix)) say(std::string("env ") + *e);
}

void signals() {
  std::uint64_t mask = 0, ignored = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  for (int signo = 1; signo <= 64; ++signo) {
    std::uintptr_t action[16] = {};
    ::syscall(SYS_rt_sigaction, signo, nullptr, action, sizeof mask);
    if (action[0] == reinterpret_cast<std::uintptr_t>(SIG_IGN))
      ignored |= std::uint64_t{1} << (signo - 1);
  }
  char text[64];
  std::snprintf(text, sizeof text, "blocked %llx", static_cast<unsigned long long>(mask));
  say(text);
  std::snprintf(text, sizeof text, "ignored %llx", static_cast<unsigned long long>(ignored));
  say(text);
}

void read_line() {
  std::string line;
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1) {
    if (c == '\n') return say("read " + line);
    line += c;
  }
  say("eof");
}

[[noreturn]] void listen() {
  const std::uint64_t all = ~std::uint64_t{0};
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, sizeof all);
  const int fd = static_cast<int>(::syscall(SYS_signalfd4, -1, &all, sizeof all, SFD_CLOEXEC));
  say("ready");
  for (;;) {
    signalfd_siginfo got{};
    if (::read(fd, &got, sizeof got) == static_cast<ssize_t>(sizeof got))
      say("signal " + std::to_string(got.ssi_signo));
  }
}

std::int64_t now_us() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1'000;
}

void beats(const std::string& name, std::int64_t ms) {
  const std::int64_t end = now_us() + ms * 1'000;
  for (std::int64_t now = 0; now < end; pause_for(20)) {
    now = now_us();
    say(name + " " + std::to_string(now));
  }
}

[[noreturn]] void beat() {
  for (;;) beats("beat", 1'000);
}

[[noreturn]] void die(int signo) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signo, SIG_DFL);
  const std::uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  ::kill(::getpid(), signo);
  for (;;) ::pause();
}

void execute(const Words& words);

// The words between the bracket at `at` and its partner; `at` is left on the partner.
Words bracket(const Words& words, std::size_t& at) {
  Words inner;
  int depth = 1;
  for (++at; at < words.size(); ++at) {
    if (words[at] == "[") ++depth;
    if (words[at] == "]" && --depth == 0) break;
    inner.push_back(words[at]);
  }
  return inner;
}

void spawn(const Words& inner) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    execute(inner);
    ::_exit(0);
  }
  say("spawned " + std::to_string(pid));
}

void daemon(const Words& inner) {
  const pid_t middle = ::fork();
  if (middle == 0) {
    ::setsid();
    if (::fork() == 0) {
      execute(inner);
      ::_exit(0);
    }
    ::_exit(0);
  }
  ::waitpid(middle, nullptr, 0);
}

// No unnecessary library call between two forks.
[[noreturn]] void run_chain(const char* file) {
  for (;;) {
    ::setsid();
    const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) ::_exit(0);
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const std::int64_t us = now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
    if (::pwrite(fd, &us, sizeof us, 0) < 0) ::_exit(0);
    ::close(fd);
    if (::fork() != 0) ::_exit(0);
  }
}

void chain(const std::string& file) {
  ::close(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  const pid_t first = ::fork();
  if (first == 0) run_chain(file.c_str());
  ::waitpid(first, nullptr, 0);
}

void crowd(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid < 0) {
      say("crowd cannot fork after " + std::to_string(i));
      return;
    }
    if (pid != 0) continue;
    if (g_state->sessions) ::setsid();
    for (;;) ::pause();
  }
  say("crowd of " + std::to_string(count));
}

[[noreturn]] void replace() {
  for (;;) {
    const pid_t pid = ::fork();
    if (pid == 0)
      for (;;) ::pause();
    ::waitpid(pid, nullptr, 0);
  }
}

void handle(int signo) { execute(g_state->handlers[signo]); }

void execute(const Words& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& verb = words[at];
    const auto next = [&words, &at] { return ++at < words.size() ? words[at] : std::string(); };
    if (verb == "to") {
      go_to(next());
    } else if (verb == "say") {
      say(next());
    } else if (verb == "ids") {
      ids();
    } else if (verb == "fds") {
      fds();
    } else if (verb == "close") {
      close_all();
    } else if (verb == "env") {
      env(next());
    } else if (verb == "signals") {
      signals();
    } else if (verb == "read") {
      read_line();
    } else if (verb == "ignore") {
      std::signal(number(next()), SIG_IGN);
    } else if (verb == "on") {
      const int signo = number(next());
      ++at;
      g_state->handlers[signo] = bracket(words, at);
      std::signal(signo, handle);
    } else if (verb == "listen") {
      listen();
    } else if (verb == "beat") {
      beat();
    } else if (verb == "beats") {
      const std::string name = next();
      beats(name, number(next()));
    } else if (verb == "sleep") {
      pause_for(number(next()));
    } else if (verb == "forever") {
      for (;;) ::pause();
    } else if (verb == "await") {
      for (const std::string file = next(); ::access(file.c_str(), F_OK) != 0;) pause_for(2);
    } else if (verb == "touch") {
      ::close(::open(next().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    } else if (verb == "spawn") {
      spawn(bracket(words, ++at));
    } else if (verb == "daemon") {
      daemon(bracket(words, ++at));
    } else if (verb == "chain") {
      chain(next());
    } else if (verb == "crowd") {
      crowd(number(next()));
    } else if (verb == "replace") {
      replace();
    } else if (verb == "sessions") {
      g_state->sessions = true;
    } else if (verb == "join") {
      while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
      }
    } else if (verb == "uid") {
      if (::setuid(static_cast<uid_t>(number(next()))) != 0) ::_exit(98);
    } else if (verb == "die") {
      die(number(next()));
    } else if (verb == "exit") {
      ::_exit(number(next()));
    } else {
      say("unknown word " + verb);
      ::_exit(97);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  State state;
  g_state = &state;
  execute(Words(argv + 1, argv + argc));
  return 0;
}
