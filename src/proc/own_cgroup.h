// SPDX-License-Identifier: Apache-2.0
// OwnCgroup: a cgroup (v2) for the command, below the one that this process is in. The kernel kills
// everything in it in one step, whatever forks meanwhile. This process stays outside of it.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"

namespace cronlatch {

class OwnCgroup {
 public:
  // std::nullopt where it cannot be created: no cgroup v2, no permission (neither root nor a
  // delegated subtree).
  static std::optional<OwnCgroup> create();
  // The directory of a cgroup that another process has created and removes.
  explicit OwnCgroup(Fd dir) : dir_(std::move(dir)) {}
  OwnCgroup(OwnCgroup&&) noexcept = default;
  OwnCgroup& operator=(OwnCgroup&&) noexcept = default;
  // Removes it, unless it contains processes.
  ~OwnCgroup();

  int fd() const { return dir_.get(); }  // for CLONE_INTO_CGROUP
  // SIGKILL to every process in it and below it; false where the kernel cannot (before 5.14).
  bool kill() const;
  // A process that has not ended is in it or below it.
  bool is_populated() const;

 private:
  OwnCgroup(Fd parent, Fd dir, std::string name)
      : parent_(std::move(parent)), dir_(std::move(dir)), name_(std::move(name)) {}

  Fd parent_;
  Fd dir_;
  std::string name_;
};

}  // namespace cronlatch
