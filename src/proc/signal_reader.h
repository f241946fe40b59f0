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

// The signal mask and the ignored signals with which a process was started.
struct OriginalSignals {
  std::uint64_t mask = 0;
  std::uint64_t ignored = 0;

  // Known for SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGCHLD; false for others.
  bool was_ignored(int signo) const { return ((ignored >> (signo - 1)) & 1U) != 0; }
  // Between fork and exec only. Async-signal-safe.
  void restore() const;
};

class SignalReader {
 public:
  static Result<SignalReader> open();
  SignalReader(SignalReader&&) noexcept = default;
  SignalReader& operator=(SignalReader&&) noexcept = default;

  int fd() const { return fd_.get(); }
  // The next signal, or nothing. A SIGPIPE or SIGXFSZ from a write of this process is dropped; one
  // that another process sent is not.
  std::optional<int> next();
  // This process was started with this signal ignored (nohup, `&` of a shell without job control).
  bool was_ignored(int signo) const { return original_.was_ignored(signo); }
  const OriginalSignals& original() const { return original_; }

 private:
  SignalReader(Fd fd, OriginalSignals original) : fd_(std::move(fd)), original_(original) {}

  Fd fd_;
  OriginalSignals original_;
};

}  // namespace cronlatch
