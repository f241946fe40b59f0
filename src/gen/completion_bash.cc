// SPDX-License-Identifier: Apache-2.0
// packaging/completions/cronlatch.bash. It needs nothing of the package bash-completion, but uses
// its function for the words of a command where that is loaded.
#include <algorithm>

#include "gen/completion_table.h"
#include "gen/pages.h"

namespace cronlatch::gen {
namespace {

constexpr std::string_view kBegin = R"(# shellcheck shell=bash
# Completion of cronlatch for bash. Rendered from the tables in src/cli and src/options by `./dev gen`. Do not edit.

# _cronlatch_words WORD...: the words that begin like the current one.
_cronlatch_words() {
  local word
  for word; do
    [[ $word != "$current"* ]] || COMPREPLY+=("$word")
  done
}

_cronlatch_files() {  # _cronlatch_files -f | -d
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

# _cronlatch_command INDEX: the words from INDEX on are a command line of their own.
_cronlatch_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$COMP_CWORD" -eq "$1" ]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$current")
  else
    _cronlatch_files -f
  fi
}

_cronlatch() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  # bash splits --flag=value into three words.
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

std::string words_line(const std::vector<std::string>& words) {
  return "_cronlatch_words " + joined(words, " ");
}

std::vector<std::string> names(const std::vector<CompletedFlag>& flags) {
  std::vector<std::string> words;
  for (const CompletedFlag& flag : flags) words.push_back(flag.name);
  return words;
}

// The flags with values, each once: a flag has the same values in every subcommand.
std::string values() {
  std::string cases, files, directories, texts;
  const auto add = [](std::string& list, const std::string& name) {
    list += (list.empty() ? "" : " | ") + name;
  };
  const auto add_flag = [&](const CompletedFlag& flag) {
    if (flag.kind == ValueKind::words)
      cases += "    " + flag.name + ") " + words_line(flag.words) + "; return ;;\n";
    if (flag.kind == ValueKind::file) add(files, flag.name);
    if (flag.kind == ValueKind::directory) add(directories, flag.name);
    if (flag.kind == ValueKind::text) add(texts, flag.name);
  };
  std::vector<std::string> seen;
  for (const Subcommand& subcommand : subcommand_table())
    for (const CompletedFlag& flag : completed_flags(subcommand)) {
      if (std::find(seen.begin(), seen.end(), flag.name) != seen.end()) continue;
      seen.push_back(flag.name);
      add_flag(flag);
    }
  return cases + "    " + files + ") _cronlatch_files -f; return ;;\n    " + directories +
         ") _cronlatch_files -d; return ;;\n    " + texts + ") return ;;\n";
}

// Subcommands with a command after `--`.
std::string gating() {
  std::vector<std::string> words;
  for (const Subcommand& subcommand : subcommand_table())
    if (subcommand.takes_command()) words.emplace_back(subcommand.name);
  return joined(words, " | ");
}

std::string subcommands() {
  std::vector<std::string> words;
  for (const Subcommand& subcommand : subcommand_table()) words.emplace_back(subcommand.name);
  words.insert(words.end(), {"--help", "--version"});
  return words_line(words);
}

// A subcommand with known operands offers its flags behind a `-` alone.
std::string flags_and_operands(const Subcommand& subcommand) {
  const std::string flags = words_line(names(completed_flags(subcommand)));
  const std::vector<std::string> words = operand_words(subcommand);
  if (!takes_directory(subcommand) && words.empty()) return flags;
  return "if [[ $current == -* ]]; then " + flags + "; elif [ \"$COMP_CWORD\" -eq 2 ]; then " +
         (words.empty() ? "_cronlatch_files -d" : words_line(words)) + "; fi";
}

}  // namespace

std::string bash_completion() {
  std::string out(kBegin);
  out += "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    " + subcommands() + "\n    return\n  fi\n";
  out += "  case ${COMP_WORDS[1]} in\n    " + gating() +
         R"()
      for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
          _cronlatch_command $((i + 1))
          return
        fi
      done
      ;;
  esac
  case $previous in
)" + values() +
         "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Subcommand& subcommand : subcommand_table())
    out += "    " + std::string(subcommand.name) + ") " + flags_and_operands(subcommand) + " ;;\n";
  return out + "  esac\n}\n\ncomplete -F _cronlatch cronlatch\n";
}

}  // namespace cronlatch::gen
