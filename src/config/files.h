// SPDX-License-Identifier: Apache-2.0
// Files: how the configuration reads files. Tests use a map.
#pragma once

#include <chrono>
#include <string>

namespace cronlatch {

struct FileText {
  std::string text;
  int error = 0;  // errno, or 0; EFBIG for a file of more than 1 MiB; ETIMEDOUT for a silent pipe
};

// What a user does about that error.
std::string read_hint(int error);

// Where nothing else waits for the program: at its start, not while it holds a lease.
inline constexpr std::chrono::milliseconds kPipeWait{5'000};

class Files {
 public:
  virtual ~Files() = default;
  virtual FileText read(const std::string& path) const = 0;
  // False only when no file has that name; a file that is not accessible exists.
  virtual bool exists(const std::string& path) const = 0;
};

// The host's files. A missing file costs one system call.
class HostFiles final : public Files {
 public:
  // How long a pipe may be silent, or without a writer: `<(command)`, `/dev/stdin`, a FIFO. Zero
  // never blocks.
  explicit HostFiles(std::chrono::milliseconds pipe_wait = {}) : pipe_wait_(pipe_wait) {}

  FileText read(const std::string& path) const override;
  bool exists(const std::string& path) const override;

 private:
  std::chrono::milliseconds pipe_wait_;
};

}  // namespace cronlatch
