// SPDX-License-Identifier: Apache-2.0
// `cronlatch install DIR`, for the init container. The program appears under its name complete and
// executable, or not at all, because another container may read the same volume.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"
#include "cli/subcommand.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

constexpr char kSelf[] = "/proc/self/exe";
constexpr mode_t kMode = 0555;

Error io_error(const std::string& what, const std::string& path, int number) {
  Error error{Code::config, "cannot " + what + ' ' + quoted(path) + ": " + std::strerror(number)};
  if (number == ENOENT || number == ENOTDIR) error.hint = "create the directory first";
  if (path == kSelf) error.hint = "mount /proc";
  if (number == ENOSPC || number == EDQUOT)
    error.hint = "the file system needs 8 MiB of free space; check the sizeLimit of the volume";
  if (number == EROFS) error.hint = "mount the volume writable in the init container";
  return error;
}

using Buffer = std::array<char, 65536>;

// Bytes read, or -1 with errno.
ssize_t read_some(int fd, Buffer& buffer) {
  ssize_t got;
  do {
    got = read(fd, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  return got;
}

// 0 or an errno.
int copy_contents(int from, int to) {
  Buffer buffer;
  while (true) {
    const ssize_t got = read_some(from, buffer);
    if (got <= 0) return got < 0 ? errno : 0;
    if (const int failed = write_all(to, {buffer.data(), static_cast<std::size_t>(got)}))
      return failed;
  }
}

bool same_contents(int a, int b) {
  Buffer one;
  Buffer two;
  off_t at = 0;
  while (true) {
    const ssize_t got = pread(a, one.data(), one.size(), at);
    if (got < 0 || pread(b, two.data(), two.size(), at) != got) return false;
    if (got == 0) return true;
    if (!std::equal(one.begin(), one.begin() + got, two.begin())) return false;
    at += got;
  }
}

// The steps before the rename.
Status fill(const std::string& path, int from, int to) {
  if (const int failed = copy_contents(from, to)) return io_error("write", path, failed);
  if (fchmod(to, kMode) != 0) return io_error("change the mode of", path, errno);
  if (!same_contents(from, to)) return io_error("verify", path, EIO);
  return Done{};
}

Status install_into(const std::string& directory) {
  const Fd self(open(kSelf, O_RDONLY | O_CLOEXEC));
  if (self.get() < 0) return io_error("read", kSelf, errno);
  const std::string target = directory + "/cronlatch";
  std::string temporary = directory + "/.cronlatch.XXXXXX";
  Fd copy(mkostemp(temporary.data(), O_CLOEXEC));
  if (copy.get() < 0) return io_error("write into", directory, errno);
  Status filled = fill(temporary, self.get(), copy.get());
  copy.reset();  // a file that is open for writing cannot be executed
  if (filled && access(temporary.c_str(), X_OK) != 0)
    filled = Error{Code::config, "programs cannot be executed from " + quoted(directory),
                   "the volume is mounted noexec"};
  if (filled && rename(temporary.c_str(), target.c_str()) != 0)
    filled = io_error("create", target, errno);
  if (!filled) unlink(temporary.c_str());
  return filled;
}

}  // namespace

Result<CommandOutput> install_command(const Invocation& invocation) {
  // An empty word is a variable that is not set: the copy would be /cronlatch.
  if (invocation.arguments.size() != 1 || invocation.arguments.front().empty() ||
      invocation.arguments.front().starts_with("-"))
    return Error{Code::usage, "install takes one directory", "cronlatch install /cronlatch"};
  const std::string& directory = invocation.arguments.front();
  if (const Status installed = install_into(directory); !installed) return installed.error();
  return CommandOutput{"installed " + printable(directory) +
                       "/cronlatch (" CRONLATCH_VERSION ")\n"};
}

}  // namespace cronlatch
