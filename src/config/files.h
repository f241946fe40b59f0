// SPDX-License-Identifier: Apache-2.0
// Files: how configuration reads the disk. Tests give a map instead. Nothing here knows what is in
// a file.
#pragma once

#include <string>

namespace cronlatch {

struct FileText {
  std::string text;
  int error = 0;  // errno, or 0; EFBIG for a file longer than any configuration is
};

class Files {
 public:
  virtual ~Files() = default;
  virtual FileText read(const std::string& path) const = 0;
  // False only when there is surely nothing of that name; what cannot be looked at exists.
  virtual bool exists(const std::string& path) const = 0;
};

// The disk. A file that is missing costs one system call.
class Disk final : public Files {
 public:
  FileText read(const std::string& path) const override;
  bool exists(const std::string& path) const override;
};

}  // namespace cronlatch
