// SPDX-License-Identifier: Apache-2.0
// Descriptors and the little directory of one look-up, given back whatever happens.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

#include "core/result.h"

namespace cronlatch::registry {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// A directory that nobody else may enter; it goes with everything in it.
class PrivateDirectory {
 public:
  static Result<PrivateDirectory> make(const std::string& below);
  PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  const std::string& path() const { return path_; }
  // Below it, readable for us alone.
  Status write(const std::string& name, const std::string& text) const;
  Status subdirectory(const std::string& name) const;

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace cronlatch::registry
