// SPDX-License-Identifier: Apache-2.0
#include "registry/private_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/fd.h"

namespace cronlatch::registry {
namespace {

Error system_error(const std::string& what) {
  return {Code::system, what + ": " + std::strerror(errno),
          "give the operator a writable directory for temporary files"};
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::create(const std::string& parent) {
  std::string pattern = parent + "/lookup-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    return system_error("cannot create a directory in " + parent);
  return PrivateDirectory(std::move(pattern));
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status PrivateDirectory::write(const std::string& name, const std::string& text) const {
  const Fd file(
      ::open((path_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return system_error("cannot write " + name);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + written, text.size() - written);
    if (count <= 0) return system_error("cannot write " + name);
    written += static_cast<std::size_t>(count);
  }
  return Done{};
}

Status PrivateDirectory::create_subdirectory(const std::string& name) const {
  if (::mkdir((path_ + "/" + name).c_str(), 0700) != 0)
    return system_error("cannot create " + name);
  return Done{};
}

}  // namespace cronlatch::registry
