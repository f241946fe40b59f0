// SPDX-License-Identifier: Apache-2.0
#include "programs/program.h"

#include <algorithm>
#include <array>

#include "base/shell_text.h"
#include "programs/cronlock.h"
#include "programs/golock.h"
#include "programs/lockrun.h"

namespace cronlatch {
namespace {

constexpr std::array kPrograms = {
    OtherProgram{"cronlock", kCronlockHelp, parse_cronlock, end_cronlock, kCronlockError},
    OtherProgram{"golock", kGolockHelp, parse_golock, end_golock, kCronlockError},
    OtherProgram{"lockrun", kLockrunHelp, parse_lockrun, end_lockrun, kLockrunError},
};

// With --isolated, no variable would set the password.
std::string command_line(std::string_view subcommand, std::vector<std::string> arguments,
                         const std::string& password_text) {
  std::vector<std::string> words = {"cronlatch", std::string(subcommand)};
  if (!password_text.empty()) std::erase(arguments, "--isolated");
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string password =
      password_text.empty() ? "" : "CRONLATCH_PASSWORD=\"" + password_text + "\" ";
  return password + shell_text(words) + '\n';
}

}  // namespace

std::span<const OtherProgram> program_table() { return kPrograms; }

const OtherProgram* find_program(std::string_view name) {
  const auto at = std::ranges::find(kPrograms, name, &OtherProgram::name);
  return at == kPrograms.end() ? nullptr : &*at;
}

std::string program_names() {
  std::string names;
  for (const OtherProgram& program : kPrograms)
    names += (names.empty() ? "" : ", ") + std::string(program.name);
  return names;
}

std::vector<std::string> native_arguments(const NativeRun& run) {
  std::vector<std::string> words = run.options;
  words.emplace_back("--");
  words.insert(words.end(), run.command.begin(), run.command.end());
  return words;
}

std::vector<std::string> native_arguments(const NativeRelease& release) {
  std::vector<std::string> words = {release.lock, "--force", "--no-wait"};
  words.insert(words.end(), release.options.begin(), release.options.end());
  return words;
}

std::string native_command_line(const NativeRun& run) {
  return command_line("run", native_arguments(run), run.password_text);
}

std::string native_command_line(const NativeRelease& release) {
  return command_line("release", native_arguments(release), release.password_text);
}

}  // namespace cronlatch
