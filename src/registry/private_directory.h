// SPDX-License-Identifier: Apache-2.0
// The temporary directory of one lookup; it is removed in every case.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace cronlatch::registry {

// With mode 0700. The destructor removes it with its content.
class PrivateDirectory {
 public:
  static Result<PrivateDirectory> create(const std::string& parent);
  PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  const std::string& path() const { return path_; }
  // In this directory, with mode 0600.
  Status write(const std::string& name, const std::string& text) const;
  Status create_subdirectory(const std::string& name) const;

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace cronlatch::registry
