// SPDX-License-Identifier: Apache-2.0
// packaging/completions/_cronlatch, for zsh.
#include "gen/completion_table.h"
#include "gen/pages.h"

namespace cronlatch::gen {
namespace {

// A text inside a specification of _arguments or _describe.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action_of(const CompletedFlag& flag) {
  switch (flag.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return ":value:(" + joined(flag.words, " ") + ")";
    case ValueKind::file:
      return ":file:_files";
    case ValueKind::directory:
      return ":directory:_files -/";
    case ValueKind::text:
      return ":value: ";
  }
  return "";
}

// "--flag=[help]:value:action": the value follows a blank or `=`.
std::string specification(const CompletedFlag& flag) {
  const bool has_equals = flag.kind != ValueKind::none && flag.name.starts_with("--");
  return single_quoted(flag.name + (has_equals ? "=" : "") + "[" + escaped(flag.help) + "]" +
                       action_of(flag));
}

std::string operand(const Subcommand& subcommand) {
  if (subcommand.takes_command()) return "'(-)*:::command:_normal'";
  if (takes_directory(subcommand)) return "'1:directory:_files -/'";
  const std::vector<std::string> words = operand_words(subcommand);
  if (!words.empty()) return single_quoted("1:word:(" + joined(words, " ") + ")");
  return subcommand.usage.starts_with("LOCK") ? "'1:lock: '" : "";
}

std::string arguments(const Subcommand& subcommand) {
  std::string out = "    " + std::string(subcommand.name) + ")\n      _arguments -S";
  const auto add = [&](const std::string& text) { out += " \\\n        " + text; };
  for (const CompletedFlag& flag : completed_flags(subcommand)) add(specification(flag));
  if (const std::string text = operand(subcommand); !text.empty()) add(text);
  return out + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string out =
      "#compdef cronlatch\n"
      "# Completion of cronlatch for zsh. Rendered from the tables in src/cli and src/options by "
      "`./dev gen`. Do not edit.\n\n"
      "_cronlatch() {\n"
      "  local curcontext=$curcontext state line\n"
      "  local -a subcommands\n"
      "  subcommands=(\n";
  for (const Subcommand& subcommand : subcommand_table())
    out += "    " +
           single_quoted(std::string(subcommand.name) + ":" + escaped(plain(subcommand.help))) +
           "\n";
  out +=
      "  )\n"
      "  _arguments -C '1:subcommand:->subcommand' '*::argument:->argument'\n"
      "  if [[ $state == subcommand ]]; then\n"
      "    _describe subcommand subcommands\n"
      "    return\n"
      "  fi\n"
      "  case $words[1] in\n";
  for (const Subcommand& subcommand : subcommand_table()) out += arguments(subcommand);
  return out + "  esac\n}\n\n_cronlatch \"$@\"\n";
}

}  // namespace cronlatch::gen
