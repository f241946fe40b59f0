// SPDX-License-Identifier: Apache-2.0
// main: reserves descriptors 0 to 2, runs the subcommand, prints its text, returns its exit code.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel_clock.h"
#include "base/standard_fds.h"
#include "cli/help.h"
#include "cli/session.h"
#include "cli/subcommand.h"
#include "config/environment.h"
#include "core/outcome.h"
#include "proc/guardian.h"
#include "programs/program.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

int fail(const Error& error) {
  write_stderr(describe(error));
  return exit_code(error);
}

Result<CommandOutput> dispatch(const Subcommand& subcommand, const Invocation& invocation) {
  // Another program has its own help, and `run` behind it.
  if (subcommand.function == as_command) return as_command(invocation);
  if (requests_help(invocation.arguments)) return CommandOutput{help_page(subcommand)};
  // A write that fails is an error, and ends no subcommand. `run` blocks signals instead, before it
  // opens anything, and restores them for its command.
  if (subcommand.function != run_command)
    for (const int signo : {SIGPIPE, SIGXFSZ}) std::signal(signo, SIG_IGN);
  return subcommand.function(invocation);
}

// The last write: a reader that has read enough, such as head, ends this program as it ends others.
Status print(const std::string& text, const struct sigaction& inherited_pipe) {
  sigaction(SIGPIPE, &inherited_pipe, nullptr);
  return write_stdout(text);
}

// The words after the program's name. A link with the name of another program is `as NAME`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::string_view path = argc > 0 ? argv[0] : "";
  if (const OtherProgram* program = find_program(path.substr(path.rfind('/') + 1)))
    words.insert(words.begin(), {"as", std::string(program->name)});
  return words;
}

// Not readable in /proc/<pid>/environ any more, which shows the process's first environment.
void erase_password(char** environment) {
  for (char** entry = environment; *entry != nullptr; ++entry)
    if (char* const value = std::strchr(*entry, '='); value != nullptr)
      if (variable_name(*entry) == kPasswordVariable)
        explicit_bzero(value + 1, std::strlen(value + 1));
}

int run_program(int argc, char** argv, char** environment) {
  const KernelClock clock;
  Invocation invocation{{}, {}, clock};
  const std::vector<std::string> words = words_of(argc, argv);
  for (char** entry = environment; *entry != nullptr; ++entry)
    invocation.environment.emplace_back(*entry);
  erase_password(environment);
  if (words.empty()) {
    write_stderr(help_page());
    return exit_code(Error{Code::usage, ""});
  }
  invocation.arguments.assign(words.begin() + 1, words.end());
  const std::string& name = words.front();
  const Subcommand* subcommand = find_subcommand(name);
  if (subcommand == nullptr) return fail(unknown_subcommand(name));
  struct sigaction inherited_pipe {};
  sigaction(SIGPIPE, nullptr, &inherited_pipe);
  const Result<CommandOutput> printed = dispatch(*subcommand, invocation);
  if (!printed) return fail(printed.error());
  if (printed->text.empty()) return printed->exit_code;
  if (const Status written = print(printed->text, inherited_pipe); !written)
    return fail(written.error());
  return printed->exit_code;
}

}  // namespace
}  // namespace cronlatch

int main(int argc, char** argv) {
  if (cronlatch::is_guardian(argc, argv)) cronlatch::run_guardian(argv);
  cronlatch::reserve_standard_fds();
  return cronlatch::run_program(argc, argv, environ);
}
