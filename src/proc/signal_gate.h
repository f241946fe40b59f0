// SPDX-License-Identifier: Apache-2.0
// SignalGate: every signal that can be blocked is blocked and read from one descriptor instead, so
// that no signal is lost and none interrupts anything. Opened by main before anything that could
// start a thread or a child; the command gets back what we were started with.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch {

class SignalGate {
 public:
  static Result<SignalGate> open();
  SignalGate(SignalGate&&) noexcept = default;
  SignalGate& operator=(SignalGate&&) noexcept = default;

  int fd() const { return fd_.get(); }
  // The next signal, or nothing. A SIGPIPE that our own write raised is dropped; one that somebody
  // sent is not.
  std::optional<int> next();
  // We were started with this signal ignored (nohup, `&` of a shell without job control). Known for
  // SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGCHLD; false for others.
  bool was_ignored(int signo) const { return ((ignored_ >> (signo - 1)) & 1U) != 0; }
  // Between fork and exec only: the signal mask and dispositions we were started with.
  // Async-signal-safe.
  void restore_in_child() const;

 private:
  SignalGate(Fd fd, std::uint64_t mask, std::uint64_t ignored)
      : fd_(std::move(fd)), original_mask_(mask), ignored_(ignored) {}

  Fd fd_;
  std::uint64_t original_mask_;
  std::uint64_t ignored_;
};

}  // namespace cronlatch
