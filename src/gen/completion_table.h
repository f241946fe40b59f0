// SPDX-License-Identifier: Apache-2.0
// The words of `cronlatch` as the completions of all shells need them: subcommands, their flags,
// and the values of each flag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/subcommand.h"
#include "options/options.h"

namespace cronlatch::gen {

enum class ValueKind { none, words, file, directory, text };  // none: a switch

struct CompletedFlag {
  std::string name;  // "--on-busy", "-o"
  std::string help;  // the first part of the help, without Markdown
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words{};  // of ValueKind::words
};
CompletedFlag completed(const Option& option);
CompletedFlag completed(const ExtraFlag& flag);
// `--help` included.
std::vector<CompletedFlag> completed_flags(const Subcommand& subcommand);

// The operand of a subcommand, if it has a fixed set of words.
std::vector<std::string> operand_words(const Subcommand& subcommand);
bool takes_directory(const Subcommand& subcommand);

// "skip, wait, fail" or "table|json" -> the words
std::vector<std::string> split_words(std::string_view text, std::string_view separator);
std::string joined(const std::vector<std::string>& words, std::string_view separator);
// The text between single quotes, as a POSIX shell and zsh read it.
std::string single_quoted(std::string_view text);
// Without the backticks of Markdown.
std::string plain(std::string_view text);

}  // namespace cronlatch::gen
