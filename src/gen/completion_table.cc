// SPDX-License-Identifier: Apache-2.0
#include "gen/completion_table.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "cli/help.h"
#include "programs/program.h"

namespace cronlatch::gen {
namespace {

ValueKind kind_of(const Option& option) {
  if (std::holds_alternative<bool Options::*>(option.field)) return ValueKind::none;
  const auto is_enum = [](auto field) {
    return std::is_enum_v<std::remove_reference_t<decltype(std::declval<Options>().*field)>>;
  };
  if (std::visit(is_enum, option.field)) return ValueKind::words;
  if (option.limits == "a directory") return ValueKind::directory;
  return option.limits.ends_with("path") ? ValueKind::file : ValueKind::text;
}

std::string first_part(std::string_view help) {
  const std::size_t end = std::min(help.find("; "), help.find(". "));
  return plain(help.substr(0, end));
}

}  // namespace

std::vector<std::string> split_words(std::string_view text, std::string_view separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string plain(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

CompletedFlag completed(const Option& option) {
  CompletedFlag flag{flag_of(option), first_part(option.help), kind_of(option)};
  if (flag.kind == ValueKind::words) flag.words = split_words(option.limits, ", ");
  return flag;
}

CompletedFlag completed(const ExtraFlag& flag) {
  CompletedFlag out{std::string(flag.name), first_part(flag.help)};
  if (!flag.takes_value()) return out;
  const bool is_choice = flag.value.find('|') != std::string_view::npos;
  out.kind = is_choice ? ValueKind::words : ValueKind::text;
  if (is_choice) out.words = split_words(flag.value, "|");
  return out;
}

std::vector<CompletedFlag> completed_flags(const Subcommand& subcommand) {
  std::vector<CompletedFlag> flags;
  for (const ExtraFlag& flag : subcommand.flags) flags.push_back(completed(flag));
  if (subcommand.takes_options())
    for (const Option& option : option_table()) flags.push_back(completed(option));
  flags.push_back({"--help", "the help page of " + std::string(subcommand.name)});
  return flags;
}

std::vector<std::string> operand_words(const Subcommand& subcommand) {
  std::vector<std::string> words;
  if (subcommand.usage.starts_with("init")) words.emplace_back("init");
  if (subcommand.usage.starts_with("NAME"))
    for (const OtherProgram& program : program_table()) words.emplace_back(program.name);
  if (subcommand.usage.starts_with("[TOPIC]")) {
    for (const std::string_view topic : help_topics()) words.emplace_back(topic);
    for (const Subcommand& other : subcommand_table()) words.emplace_back(other.name);
    for (const OtherProgram& program : program_table()) words.emplace_back(program.name);
  }
  return words;
}

bool takes_directory(const Subcommand& subcommand) { return subcommand.usage.starts_with("DIR"); }

}  // namespace cronlatch::gen
