// SPDX-License-Identifier: Apache-2.0
// A disk in a map, and a host that never changes.
#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "config/default_lock.h"
#include "config/files.h"

namespace cronlatch {

class FakeFiles final : public Files {
 public:
  FakeFiles() = default;
  FakeFiles(std::initializer_list<std::pair<const std::string, std::string>> files)
      : files_(files) {}
  FileText read(const std::string& path) const override {
    asked.push_back(path);
    if (const auto broken = errors.find(path); broken != errors.end()) return {"", broken->second};
    const auto at = files_.find(path);
    return at == files_.end() ? FileText{"", ENOENT} : FileText{at->second, 0};
  }
  bool exists(const std::string& path) const override {
    if (path.ends_with("/.")) return path.substr(0, path.size() - 2) != missing_directory;
    asked.push_back(path);
    return files_.count(path) != 0 || errors.count(path) != 0;
  }

  std::map<std::string, int> errors;       // path -> errno
  mutable std::vector<std::string> asked;  // every path of a file that was requested
  std::string missing_directory;           // every other one exists

 private:
  std::map<std::string, std::string> files_;
};

inline const Host kHost{1'000, 42, "node1"};

}  // namespace cronlatch
