// SPDX-License-Identifier: Apache-2.0
#include "registry/private_directory.h"
#include "base/fd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace cronlatch::registry {
namespace {

Error trouble(const std::string& what) {
  return {Code::system, what + ": " + std::strerror(errno),
          "the operator needs a directory for temporary files that it may write"};
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::make(const std::string& below) {
  std::string pattern = below + "/lookup-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return trouble("no directory below " + below);
  return PrivateDirectory(std::move(pattern));
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status PrivateDirectory::write(const std::string& name, const std::string& text) const {
  const Fd file(
      ::open((path_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return trouble("cannot write " + name);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file.get(), text.data() + done, text.size() - done);
    if (wrote <= 0) return trouble("cannot write " + name);
    done += static_cast<std::size_t>(wrote);
  }
  return Done{};
}

Status PrivateDirectory::subdirectory(const std::string& name) const {
  if (::mkdir((path_ + "/" + name).c_str(), 0700) != 0) return trouble("cannot make " + name);
  return Done{};
}

}  // namespace cronlatch::registry
