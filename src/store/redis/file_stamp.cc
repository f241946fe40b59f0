// SPDX-License-Identifier: Apache-2.0
#include "store/redis/file_stamp.h"

#include <sys/stat.h>

namespace cronlatch::redis {
namespace {

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

FileStamp FileStamp::of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_size, found.st_mtim, found.st_ctim};
}

bool FileStamp::operator==(const FileStamp& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         same(written, other.written) && same(changed, other.changed);
}

}  // namespace cronlatch::redis
