// SPDX-License-Identifier: Apache-2.0
// The path, the number of arguments, the arguments, the environment; each ends with a NUL byte,
// which none of them contains.
#include "proc/command_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

namespace cronlatch {
namespace {

// The text before the next NUL byte; nothing where there is none.
std::optional<std::string_view> take_text(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

std::optional<std::string> read_whole(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace

Fd create_command_file() { return Fd(::memfd_create("cronlatch-command", MFD_CLOEXEC)); }

bool write_command(int fd, const Command& command) {
  std::string bytes;
  const auto add = [&bytes](std::string_view text) { bytes.append(text).push_back('\0'); };
  add(command.path);
  add(std::to_string(command.argv.size()));
  for (const std::string& word : command.argv) add(word);
  for (const std::string& entry : command.env) add(entry);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Command> read_command(int fd) {
  const std::optional<std::string> bytes = read_whole(fd);
  if (!bytes) return std::nullopt;
  std::string_view rest = *bytes;
  const auto path = take_text(rest), count = take_text(rest);
  std::size_t words = 0;
  if (!path || !count ||
      std::from_chars(count->data(), count->data() + count->size(), words).ec != std::errc())
    return std::nullopt;
  Command command{std::string(*path), {}, {}};
  while (const auto text = take_text(rest))
    (command.argv.size() < words ? command.argv : command.env).emplace_back(*text);
  if (command.argv.empty() || command.argv.size() < words) return std::nullopt;
  return command;
}

}  // namespace cronlatch
