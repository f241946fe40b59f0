// SPDX-License-Identifier: Apache-2.0
// Descriptors and the little directory of one look-up, given back whatever happens.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace cronlatch::registry {

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
