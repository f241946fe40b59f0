// SPDX-License-Identifier: Apache-2.0
// packaging/completions/cronlatch.fish.
#include "gen/completion_table.h"
#include "gen/pages.h"

namespace cronlatch::gen {
namespace {

// fish reads \ and ' in single quotes; nothing else is special.
std::string quoted_for_fish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string line(const std::string& condition, const std::string& rest) {
  return "complete -c cronlatch -n " + quoted_for_fish(condition) + " " + rest + "\n";
}

std::string value_of(const CompletedFlag& flag) {
  switch (flag.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return " -x -a " + quoted_for_fish(joined(flag.words, " "));
    case ValueKind::file:
      return " -r -F";
    case ValueKind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::text:
      return " -x";
  }
  return "";
}

std::string flag_line(const std::string& condition, const CompletedFlag& flag) {
  const bool is_long = flag.name.starts_with("--");
  return line(condition, (is_long ? "-l " + flag.name.substr(2) : "-s " + flag.name.substr(1)) +
                             value_of(flag) + " -d " + quoted_for_fish(flag.help));
}

std::string operand_line(const Subcommand& subcommand, const std::string& condition) {
  const std::vector<std::string> words = operand_words(subcommand);
  if (!words.empty()) return line(condition, "-a " + quoted_for_fish(joined(words, " ")));
  if (takes_directory(subcommand)) return line(condition, "-a '(__fish_complete_directories)'");
  return "";
}

}  // namespace

std::string fish_completion() {
  std::string out =
      "# Completion of cronlatch for fish. Rendered from the tables in src/cli and src/options by "
      "`./dev gen`. Do not edit.\n\n"
      "# The subcommand is the first word; the words after -- are a command of their own.\n"
      "function __cronlatch_is\n"
      "    set -l words (commandline -opc)\n"
      "    contains -- -- $words[2..]; and return 1\n"
      "    contains -- \"$words[2]\" $argv\n"
      "end\n"
      "function __cronlatch_gates\n"
      "    set -l words (commandline -opc)\n"
      "    contains -- -- $words[2..]\n"
      "end\n"
      "function __cronlatch_command\n"
      "    set -l words (commandline -opc) (commandline -ct)\n"
      "    set -l at (contains -i -- -- $words)\n"
      "    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) "
      "$words[-1])\n"
      "end\n\n"
      "complete -c cronlatch -f\n"
      "complete -c cronlatch -n '__cronlatch_gates' -a '(__cronlatch_command)'\n";
  // Options are the same in many subcommands: one line with all of them.
  std::string with_options;
  for (const Subcommand& subcommand : subcommand_table()) {
    out += line("__fish_use_subcommand", "-a " + std::string(subcommand.name) + " -d " +
                                             quoted_for_fish(plain(subcommand.help)));
    if (subcommand.takes_options()) with_options += " " + std::string(subcommand.name);
  }
  for (const Option& option : option_table())
    out += flag_line("__cronlatch_is" + with_options, completed(option));
  for (const Subcommand& subcommand : subcommand_table()) {
    const std::string condition = "__cronlatch_is " + std::string(subcommand.name);
    for (const ExtraFlag& flag : subcommand.flags) out += flag_line(condition, completed(flag));
    out += operand_line(subcommand, condition);
  }
  return out;
}

}  // namespace cronlatch::gen
