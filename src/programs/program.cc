// SPDX-License-Identifier: Apache-2.0
#include "programs/program.h"

#include <algorithm>
#include <array>

#include "base/shell_text.h"
#include "programs/lockrun.h"

namespace cronlatch {
namespace {

constexpr std::array kPrograms = {
    OtherProgram{"lockrun", kLockrunHelp, parse_lockrun, end_lockrun, kLockrunError},
};

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

std::string native_command_line(const NativeRun& run) {
  std::vector<std::string> words = {"cronlatch", "run"};
  words.insert(words.end(), run.options.begin(), run.options.end());
  words.emplace_back("--");
  words.insert(words.end(), run.command.begin(), run.command.end());
  return shell_text(words) + '\n';
}

}  // namespace cronlatch
