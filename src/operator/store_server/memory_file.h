// SPDX-License-Identifier: Apache-2.0
// MemoryFile: a file without a place on disk, for a library that reads a path. The operator's root
// directory is read-only.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace cronlatch::op {

class MemoryFile {
 public:
  static Result<MemoryFile> with(std::string_view content);
  // Valid while the object exists, for this process only.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  explicit MemoryFile(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace cronlatch::op
