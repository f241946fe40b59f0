// SPDX-License-Identifier: Apache-2.0
// `cronlatch as NAME`: the command line of another program, translated and run.
#include <unistd.h>

#include <climits>
#include <csignal>
#include <utility>
#include <variant>

#include "base/text.h"
#include "cli/help.h"
#include "cli/subcommand.h"
#include "config/default_lock.h"
#include "programs/program.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

std::string current_directory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

CommandOutput fail(const OtherProgram& program, const Error& error) {
  write_stderr(describe(error));
  return {"", program.error_code};
}

CommandOutput print(std::string text) {
  std::signal(SIGPIPE, SIG_IGN);
  return {std::move(text)};
}

CommandOutput run_as(const OtherProgram& program, const NativeRun& run,
                     const Invocation& invocation) {
  Invocation native{run.options, invocation.environment, invocation.clock};
  native.arguments.emplace_back("--");
  native.arguments.insert(native.arguments.end(), run.command.begin(), run.command.end());
  const Result<CommandOutput> done = run_command(native);
  if (!done) return fail(program, done.error());
  if (!done->outcome) return *done;
  const ProgramEnd end = program.end(run, *done->outcome);
  if (!end.message.empty()) write_stderr(end.message);
  return {"", end.exit_code};
}

}  // namespace

Result<CommandOutput> as_command(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.arguments;
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h"))
    return print(help_page(*find_subcommand("as")));
  const OtherProgram* const program = words.empty() ? nullptr : find_program(words.front());
  if (program == nullptr)
    return Error{Code::usage,
                 words.empty() ? "no program given" : "unknown program " + quoted(words.front()),
                 "write cronlatch as NAME [ARG...]; the names: " + program_names()};
  Host host;
  host.uid = geteuid();
  const ProgramInput input{std::span(words).subspan(1), current_directory(), default_store(host)};
  Result<ParsedProgram> parsed = program->parse(input);
  if (!parsed) return fail(*program, parsed.error());
  if (auto* text = std::get_if<ProgramText>(&*parsed)) return print(std::move(text->text));
  const NativeRun& run = std::get<NativeRun>(*parsed);
  if (run.explain) return print(native_command_line(run));
  return run_as(*program, run, invocation);
}

}  // namespace cronlatch
