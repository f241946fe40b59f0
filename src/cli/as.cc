// SPDX-License-Identifier: Apache-2.0
// `cronlatch as NAME`: the command line of another program, translated and run.
#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <utility>
#include <variant>

#include "base/text.h"
#include "cli/help.h"
#include "cli/self.h"
#include "cli/subcommand.h"
#include "config/default_lock.h"
#include "config/files.h"
#include "programs/program.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

std::string current_directory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

// "" if /proc is not mounted.
std::string program_directory() {
  const Result<std::string> program = own_path();
  return program ? program->substr(0, program->rfind('/')) : "";
}

// Of the path in execve(2): a shell has found it in PATH.
std::string link_directory() {
  const auto* const path = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  const std::string text = path == nullptr ? "" : path;
  const std::size_t slash = text.rfind('/');
  return slash == std::string::npos ? "" : text.substr(0, slash);
}

ProgramFile read_file(const std::string& path) {
  FileText file = HostFiles(kPipeWait).read(path);
  return {std::move(file.text), file.error};
}

template <class Native>
Invocation native_invocation(const Native& native, const Invocation& invocation) {
  Invocation result{native_arguments(native), invocation.environment, invocation.clock};
  if (!native.password.empty()) result.password = native.password.reveal();
  return result;
}

CommandOutput fail(const OtherProgram& program, const Error& error) {
  write_stderr(describe(error));
  return {"", program.error_code};
}

CommandOutput run_as(const OtherProgram& program, const NativeRun& run,
                     const Invocation& invocation) {
  if (!run.message.empty()) write_stderr(run.message);
  const Result<CommandOutput> done = run_command(native_invocation(run, invocation));
  if (!done) return fail(program, done.error());
  if (!done->outcome) return *done;
  const ProgramEnd end = program.end(run, *done->outcome);
  if (!end.message.empty()) write_stderr(end.message);
  return {"", end.exit_code};
}

// The program exits in the same way whether there was something to remove or not.
CommandOutput release_as(const OtherProgram& program, const NativeRelease& release,
                         const Invocation& invocation) {
  const Result<CommandOutput> done = release_command(native_invocation(release, invocation));
  if (!done) return fail(program, done.error());
  write_stderr("cronlatch: " + done->text);
  return {"", release.exit_code};
}

}  // namespace

Result<CommandOutput> as_command(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.arguments;
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h"))
    return CommandOutput{help_page(*find_subcommand("as"))};
  const OtherProgram* const program = words.empty() ? nullptr : find_program(words.front());
  if (program == nullptr)
    return Error{Code::usage,
                 words.empty() ? "no program given" : "unknown program " + quoted(words.front()),
                 "write cronlatch as NAME [ARG...]; the names: " + program_names()};
  Host host;
  host.uid = geteuid();
  const ProgramInput input{.arguments = std::span(words).subspan(1),
                           .directory = current_directory(),
                           .default_store = default_store(host),
                           .environment = invocation.environment,
                           .program_directory = program_directory(),
                           .link_directory = link_directory(),
                           .read = read_file};
  Result<ParsedProgram> parsed = program->parse(input);
  if (!parsed) return fail(*program, parsed.error());
  if (auto* text = std::get_if<ProgramText>(&*parsed)) return CommandOutput{std::move(text->text)};
  if (const auto* release = std::get_if<NativeRelease>(&*parsed))
    return release->explain ? CommandOutput{native_command_line(*release)}
                            : release_as(*program, *release, invocation);
  const NativeRun& run = std::get<NativeRun>(*parsed);
  if (run.explain) return CommandOutput{native_command_line(run)};
  return run_as(*program, run, invocation);
}

}  // namespace cronlatch
