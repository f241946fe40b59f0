// SPDX-License-Identifier: Apache-2.0
#include "core/lock_file.h"

#include "base/text.h"
#include "core/escaped_name.h"
#include "core/lock_name.h"

namespace cronlatch {
namespace {

constexpr std::string_view kPrefix = "_file";

}  // namespace

Status check_lock_file(std::string_view path) {
  if (!path.starts_with('/'))
    return Error{Code::config, quoted(path) + " is not an absolute path",
                 "write for example /var/lock/nightly"};
  if (path.find('\0') != std::string_view::npos)
    return Error{Code::config, "the path contains a NUL byte", "remove it"};
  if (!check_lock_name(lock_of_file(path)))
    return Error{Code::config,
                 "the path is too long: its lock name " + quoted(lock_of_file(path)) +
                     " has more than 200 characters",
                 "use a shorter path"};
  return Done{};
}

std::string lock_of_file(std::string_view path) { return std::string(kPrefix) + escape_name(path); }

std::optional<std::string> file_of_lock(std::string_view lock) {
  if (!lock.starts_with(kPrefix) || !lock.substr(kPrefix.size()).starts_with('/'))
    return std::nullopt;
  std::string path = unescape_name(lock.substr(kPrefix.size()));
  // Other names decode, too; only the name of a file encodes to itself again.
  if (!check_lock_file(path) || lock_of_file(path) != lock) return std::nullopt;
  return path;
}

}  // namespace cronlatch
