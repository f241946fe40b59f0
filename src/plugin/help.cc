// SPDX-License-Identifier: Apache-2.0
#include "plugin/help.h"

#include "base/text.h"
#include "plugin/flag.h"

namespace cronlatch::plugin {
namespace {

// Two columns; the text of a row may have several lines.
std::string two_columns(const std::vector<std::pair<std::string, std::string_view>>& rows) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size() + 4);
  std::string text;
  for (const auto& [left, right] : rows) {
    text += "  " + left + std::string(width - left.size() - 2, ' ');
    for (const char c : right)
      text += c == '\n' ? '\n' + std::string(width, ' ') : std::string(1, c);
    text += '\n';
  }
  return text;
}

std::string flags_of(const Verb& verb) {
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Flag& flag : flag_table()) {
    if (!verb.accepts(flag.name)) continue;
    std::string left = flag.short_name.empty() ? "" : std::string(flag.short_name) + ", ";
    left += std::string(flag.name);
    if (!flag.is_switch()) left += ' ' + std::string(flag.value);
    rows.emplace_back(std::move(left), flag.help);
  }
  return two_columns(rows);
}

}  // namespace

std::string help_text() {
  std::string text =
      "  kubectl cronlatch -A\n\n"
      "Lists the gated CronJobs of all namespaces.\n\n"
      "kubectl cronlatch COMMAND:\n";
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Verb& verb : verb_table()) rows.emplace_back(usage_of(verb), verb.help);
  return text + two_columns(rows) +
         "\nThe flags of one command: kubectl cronlatch COMMAND --help\n"
         "The flags of `kubectl options` are passed to kubectl.\n"
         "Documentation: docs/kubectl.md\n";
}

std::string help_text(const Verb& verb) {
  std::string text =
      "usage: kubectl cronlatch " + usage_of(verb) + " [flags]\n\n" + std::string(verb.help) + '\n';
  if (!verb.details.empty()) text += '\n' + std::string(verb.details);
  return text + '\n' + flags_of(verb) + "\nThe flags of `kubectl options` are passed to kubectl.\n";
}

Result<Output> help(const Arguments& arguments, const Context&) {
  const Verb* const verb = arguments.name.empty() ? nullptr : find_verb(arguments.name);
  if (verb == nullptr && !arguments.name.empty())
    return Error{Code::usage, "unknown command " + cronlatch::quoted(arguments.name),
                 "commands: " + verb_names()};
  Output output;
  output.sections.push_back({.lines = {verb == nullptr ? help_text() : help_text(*verb)}});
  return output;
}

}  // namespace cronlatch::plugin
