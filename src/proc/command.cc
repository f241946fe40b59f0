// SPDX-License-Identifier: Apache-2.0
// The PATH search of execvp, with errors that name the reason.
#include "proc/command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "proc/noexec.h"

namespace cronlatch {
namespace {

// What execvp uses when PATH is not set (confstr(_CS_PATH) of glibc).
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

// 0, or why this file cannot be executed.
int refusal(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return errno;
  if (S_ISDIR(st.st_mode)) return EISDIR;
  if (!S_ISREG(st.st_mode)) return EACCES;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

bool is_missing(int why) { return why == ENOENT || why == ENOTDIR; }

std::string_view path_of(const std::vector<std::string>& env) {
  for (const std::string& entry : env)
    if (entry.starts_with("PATH=")) return std::string_view(entry).substr(5);
  return kDefaultPath;
}

Error missing(const std::string& name, std::string where) {
  std::string hint = "check the spelling, install it, or give its full path";
  if (name.find(' ') != std::string::npos)
    hint = "it contains spaces: write program and arguments as separate words, or use sh -c '...'";
  return {Code::exec_missing, "command \"" + name + "\" not found" + std::move(where),
          std::move(hint)};
}

Error denied(const std::string& name, const std::string& path, int why) {
  const std::string what = "command \"" + name + "\" cannot be executed: " + path;
  if (why == EISDIR)
    return {Code::exec_denied, what + " is a directory", "write the path of a program in it"};
  if (why == EACCES)
    if (const std::optional<std::string> mount = noexec_mount(path))
      return {Code::exec_denied, what + " is on " + *mount + ", which is mounted noexec",
              noexec_hint(*mount)};
  if (why == EACCES)
    return {Code::exec_denied, what + " is not executable for this user",
            "chmod +x the file, check the directories above it, or run it with its interpreter"};
  return {Code::exec_denied, what + ": " + std::strerror(why), "check the path"};
}

Result<std::string> search(const std::string& name, std::string_view path) {
  std::string denied_at;
  int denied_why = 0;
  for (std::string_view rest = path;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view dir = rest.substr(0, colon);
    // An empty entry means the current directory (execvp(3)).
    const std::string candidate = (dir.empty() ? std::string(".") : std::string(dir)) + "/" + name;
    const int why = refusal(candidate);
    if (why == 0) return candidate;
    // A later entry may contain one that can be executed; the first denied one is kept, as in
    // execvp.
    if (!is_missing(why) && denied_why == 0) denied_at = candidate, denied_why = why;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (denied_why != 0) return denied(name, denied_at, denied_why);
  return missing(name, " in PATH (" + std::string(path) + ")");
}

}  // namespace

Result<Command> resolve_command(std::vector<std::string> argv, std::vector<std::string> env) {
  if (argv.empty())
    return Error{Code::usage, "no command given",
                 "put it after --: cronlatch run -- COMMAND [ARG...]"};
  const std::string& name = argv.front();
  if (name.empty())
    return Error{Code::exec_missing, "the command is an empty word",
                 "check whether a variable in it is unset"};
  std::string path = name;
  if (name.find('/') == std::string::npos) {
    Result<std::string> found = search(name, path_of(env));
    if (!found) return found.error();
    path = *std::move(found);
  } else if (const int why = refusal(name); why != 0) {
    if (is_missing(why)) return missing(name, "");
    return denied(name, name, why);
  }
  return Command{std::move(path), std::move(argv), std::move(env)};
}

}  // namespace cronlatch
