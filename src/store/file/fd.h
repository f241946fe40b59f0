// SPDX-License-Identifier: Apache-2.0
// Fd: one open file description of ours, closed once. Closing never unlocks what a child has
// inherited.
#pragma once

#include <unistd.h>

#include <utility>

namespace cronlatch::file {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // For those who have to know whether closing succeeded; -1 and errno like close(2).
  int close_now() { return close(std::exchange(fd_, -1)); }

 private:
  int fd_ = -1;
};

}  // namespace cronlatch::file
