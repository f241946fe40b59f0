// SPDX-License-Identifier: Apache-2.0
// FileStamp: tells whether a file has been replaced or written since, without reading it. Follows
// symbolic links, as Kubernetes replaces the files of a mounted Secret by moving a link.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <string>

namespace cronlatch::redis {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;  // the file cannot be looked at
  timespec written{};
  timespec changed{};  // differs for a file that was moved here with its old time of writing

  static FileStamp of(const std::string& path);
  bool operator==(const FileStamp& other) const;
};

}  // namespace cronlatch::redis
