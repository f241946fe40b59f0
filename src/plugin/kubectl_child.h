// SPDX-License-Identifier: Apache-2.0
// One kubectl that runs: its process and our ends of its pipes. For kubectl.cc, which moves the
// bytes of all of them at once. Whatever way it is left, nothing runs on and nothing stays
// unreaped.
#pragma once

#include <sys/types.h>

#include <string_view>
#include <utility>

#include "plugin/kubectl.h"

namespace cronlatch::plugin {

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
  void shut();

 private:
  int fd_;
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
  ~Running();   // kills and reaps what still runs
  void reap();  // waits for its end, and notes the exit code
  bool talks() const { return out.open() || complaints.open(); }

  pid_t pid = 0;
  End in, out, complaints;
  std::string_view left_to_write;
  KubectlAnswer answer;
};

// Starts it in our place: our environment, our standard error unless the caller wants its words.
// The call must outlive it: its input is written from there.
Result<Running> start_kubectl(const KubectlSpec& spec, const KubectlCall& call);

}  // namespace cronlatch::plugin
