// SPDX-License-Identifier: Apache-2.0
// FileStamp: detects that a file was replaced or written, without reading it. Follows symbolic
// links, because Kubernetes replaces the files of a mounted Secret by moving a link.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <string>

namespace cronlatch::redis {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;  // stat(2) failed
  timespec written{};
  timespec changed{};  // differs for a file that was moved here with its old `written`

  static FileStamp of(const std::string& path);
  bool operator==(const FileStamp& other) const;
};

}  // namespace cronlatch::redis
