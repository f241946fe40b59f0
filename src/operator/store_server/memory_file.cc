// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cronlatch::op {

Result<MemoryFile> MemoryFile::with(std::string_view content) {
  Fd fd(memfd_create("cronlatch", MFD_CLOEXEC));
  const auto failed = [] {
    return Error{Code::system, std::string("cannot create a file in memory: ") + strerror(errno)};
  };
  if (!fd) return failed();
  while (!content.empty()) {
    const ssize_t written = write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed();
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return MemoryFile(std::move(fd));
}

}  // namespace cronlatch::op
