// SPDX-License-Identifier: Apache-2.0
// SignalReader: blocks every signal that can be blocked and reads them from one descriptor, so that
// no signal is lost and none interrupts a call. Opened before anything that could start a thread or
// a child; the command gets the original mask.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch {

class SignalReader {
 public:
  static Result<SignalReader> open();
  SignalReader(SignalReader&&) noexcept = default;
  SignalReader& operator=(SignalReader&&) noexcept = default;

  int fd() const { return fd_.get(); }
  // The next signal, or nothing. A SIGPIPE from a write of this process is dropped; one that
  // another process sent is not.
  std::optional<int> next();
  // This process was started with this signal ignored (nohup, `&` of a shell without job control).
  // Known for SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGCHLD; false for others.
  bool was_ignored(int signo) const { return ((ignored_ >> (signo - 1)) & 1U) != 0; }
  // Between fork and exec only: restores the original signal mask and dispositions.
  // Async-signal-safe.
  void restore_in_child() const;

 private:
  SignalReader(Fd fd, std::uint64_t mask, std::uint64_t ignored)
      : fd_(std::move(fd)), original_mask_(mask), ignored_(ignored) {}

  Fd fd_;
  std::uint64_t original_mask_;
  std::uint64_t ignored_;
};

}  // namespace cronlatch
