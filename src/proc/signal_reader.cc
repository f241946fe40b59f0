// SPDX-License-Identifier: Apache-2.0
// The signal mask, by raw system calls: the C library keeps 32 and 33 to itself and would silently
// leave them out of every set, so such a signal would end the process instead of being
// forwarded.
#include "proc/signal_reader.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaskBytes = sizeof(std::uint64_t);
// The only ones whose inherited disposition matters: those that cancel a run before the start, and
// SIGCHLD. (All 64 would cost 64 system calls at every start.)
constexpr std::array kChecked = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD};

std::uint64_t ignored_signals() {
  std::uint64_t ignored = 0;
  for (const int signo : kChecked) {
    // The kernel's struct starts with the handler; the room behind it is more than any
    // architecture's.
    std::array<std::uintptr_t, 16> action{};
    if (::syscall(SYS_rt_sigaction, signo, nullptr, action.data(), kMaskBytes) != 0) continue;
    if (action[0] == reinterpret_cast<std::uintptr_t>(SIG_IGN))
      ignored |= std::uint64_t{1} << (signo - 1);
  }
  return ignored;
}

}  // namespace

Result<SignalReader> SignalReader::open() {
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t original = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &original, kMaskBytes);
  const std::uint64_t ignored = ignored_signals();
  // With an inherited SIG_IGN the kernel would reap the children itself (waitpid(2)).
  std::signal(SIGCHLD, SIG_DFL);
  const long fd = ::syscall(SYS_signalfd4, -1, &all, kMaskBytes, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0)
    return Error{Code::system,
                 std::string("signals cannot be read: signalfd: ") + std::strerror(errno),
                 errno_hint(errno, "check whether a seccomp profile denies it")};
  return SignalReader(Fd(static_cast<int>(fd)), {original, ignored});
}

std::optional<int> SignalReader::next() {
  for (;;) {
    signalfd_siginfo got{};
    const ssize_t n = ::read(fd_.get(), &got, sizeof got);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof got)) return std::nullopt;
    // The kernel sends them for a write of this process: to a pipe without a reader, or to a file
    // at the limit of its size (RLIMIT_FSIZE).
    const bool is_of_write = got.ssi_signo == SIGPIPE || got.ssi_signo == SIGXFSZ;
    if (is_of_write && got.ssi_pid == static_cast<std::uint32_t>(::getpid())) continue;
    return static_cast<int>(got.ssi_signo);
  }
}

void OriginalSignals::restore() const {
  if (was_ignored(SIGCHLD)) std::signal(SIGCHLD, SIG_IGN);
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, kMaskBytes);
}

}  // namespace cronlatch
