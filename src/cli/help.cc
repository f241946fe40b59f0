// SPDX-License-Identifier: Apache-2.0
// `cronlatch help`: the overview, a page for each subcommand, and the topics, all rendered from the
// tables they describe.
#include "cli/help.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/environment.h"
#include "core/outcome.h"
#include "options/options.h"
#include "programs/program.h"
#include "terminal/table.h"

namespace cronlatch {
namespace {

constexpr std::size_t kColumns = 79;

// The tables contain the Markdown of the documentation.
std::string plain(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = kColumns;  // so that the first word begins a line
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + 1 + word.size() > kColumns) {
      if (!out.empty()) out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string default_of(const Option& option) {
  return plain(option.fallback_note.empty() ? option.fallback : option.fallback_note);
}

std::string options_page() {
  std::string page =
      "All names of an option are derived from its key. on-busy is --on-busy,\n"
      "CRONLATCH_ON_BUSY, and on-busy: in YAML. Order of precedence: flag, environment,\n"
      "file, default. A duration has a unit: 30s, 1h30m.\n";
  for (const Option& option : option_table()) {
    page += "\n  " + flag_of(option) + "  (" + plain(option.limits) + ")\n";
    page += wrapped(plain(option.help), 6);
    page += wrapped("default: " + default_of(option), 6);
  }
  return page;
}

std::string entries(const std::vector<HelpEntry>& rows) {
  std::size_t indent = 0;
  for (const HelpEntry& row : rows) indent = std::max(indent, row.word.size() + 4);
  std::string page;
  for (const HelpEntry& row : rows) {
    std::string text = wrapped(plain(row.text), indent);
    text.replace(2, row.word.size(), row.word);
    page += text;
  }
  return page;
}

std::string exit_codes_page() {
  std::vector<HelpEntry> rows;
  for (const ExitRow& row : exit_table()) rows.push_back({row.code, row.meaning});
  return "Exit codes of run:\n\n" + entries(rows);
}

std::string outcomes_page() {
  std::vector<HelpEntry> kinds;
  std::vector<HelpEntry> reasons;
  for (const KindRow& row : kind_table()) kinds.push_back({row.name, row.meaning});
  for (const ReasonRow& row : reason_table())
    if (!row.name.empty()) reasons.push_back({row.name, row.meaning});
  return "The outcome file contains one line of JSON, which is also the last log line of\n"
         "log-format json. Its outcome is one of:\n\n" +
         entries(kinds) + "\nand its reason, if there is one:\n\n" + entries(reasons);
}

constexpr std::array kCommandVariables = {
    HelpEntry{kLockNameVariable, "the name of the lock"},
    HelpEntry{
        kFenceVariable,
        "the fence, a decimal number that rises with each grant, for resources that refuse lower "
        "ones; absent without a lock"},
    HelpEntry{kLockHolderVariable, "the holder of the lock, as in `ls`"},
    HelpEntry{kLeaseVariable, "the length of the lease in milliseconds; absent without one"},
    HelpEntry{kScheduledTimeVariable, "the scheduled time of the run, if `once-per` contains it"}};

std::string environment_page() {
  std::string page = "The environment of the command contains:\n\n" +
                     entries({kCommandVariables.begin(), kCommandVariables.end()}) +
                     "\nThese variables are options; a * marks those that are removed from the\n"
                     "command's environment, because they describe one run:\n\n";
  for (const Option& option : option_table())
    if (const std::string variable = variable_of(option); !variable.empty())
      page += "  " + variable + (option.scope == Scope::run ? " *" : "") + '\n';
  return page + "  " + std::string(kPasswordVariable) +
         " *\n\nTheir meaning: cronlatch help options\n";
}

struct Topic {
  std::string_view name;
  std::string (*page)();
};
constexpr std::array kTopics = {
    Topic{"options", options_page}, Topic{"exit-codes", exit_codes_page},
    Topic{"outcomes", outcomes_page}, Topic{"environment", environment_page}};

// The options that most users need.
constexpr std::array<std::string_view, 7> kRunOptions = {
    "lock", "store", "ttl", "on-busy", "wait-timeout", "max-run", "on-store-down"};
constexpr std::array<std::string_view, 3> kReadOptions = {"store", "credentials-dir", "config"};

std::string first_options(std::span<const std::string_view> keys) {
  std::vector<std::string> flags;  // entries() keeps views of them
  std::vector<HelpEntry> rows;
  for (const std::string_view key : keys) flags.push_back(flag_of(*find_option(key)));
  for (std::size_t i = 0; i < keys.size(); ++i)
    rows.push_back({flags[i], find_option(keys[i])->help});
  return entries(rows) + "All options: cronlatch help options\n";
}

std::string flags_of(const Subcommand& subcommand) {
  std::vector<std::string> words;  // entries() keeps views of them
  std::vector<HelpEntry> rows;
  for (const ExtraFlag& flag : subcommand.flags)
    words.push_back(std::string(flag.name) + (flag.takes_value() ? " " : "") +
                    std::string(flag.value));
  for (std::size_t i = 0; i < words.size(); ++i)
    rows.push_back({words[i], subcommand.flags[i].help});
  return entries(rows);
}

}  // namespace

std::string usage_of(const Subcommand& subcommand) {
  std::string usage = "cronlatch " + std::string(subcommand.name);
  if (!subcommand.usage.empty()) usage += ' ' + std::string(subcommand.usage);
  return usage;
}

std::vector<std::string_view> help_topics() {
  std::vector<std::string_view> names;
  for (const Topic& topic : kTopics) names.push_back(topic.name);
  return names;
}

std::span<const HelpEntry> command_variables() { return kCommandVariables; }

std::string help_page() {
  std::string page =
      "  cronlatch run --lock reports/nightly -- /usr/local/bin/report\n\n"
      "runs the command while it holds the lock. If another run holds it, on this host\n"
      "or on any host that shares the store, the run is skipped.\n\n";
  std::vector<Row> rows;
  for (const Subcommand& subcommand : subcommand_table())
    rows.push_back({"  " + usage_of(subcommand).substr(10), std::string(subcommand.help)});
  page += "cronlatch SUBCOMMAND:\n" + render_table(rows);
  page += "Help for a subcommand: cronlatch SUBCOMMAND --help\n";
  page += "Other topics: cronlatch help options | exit-codes | outcomes | environment\n";
  return page;
}

std::string help_page(const Subcommand& subcommand) {
  std::string page = "  " + std::string(subcommand.example) + "\n\nusage: " + usage_of(subcommand) +
                     '\n' + std::string(subcommand.help) + '\n';
  if (!subcommand.flags.empty() || !subcommand.details.empty())
    page += '\n' + flags_of(subcommand) + std::string(subcommand.details);
  if (subcommand.takes_options())
    page += '\n' + first_options(subcommand.takes_command()
                                     ? std::span<const std::string_view>(kRunOptions)
                                     : std::span<const std::string_view>(kReadOptions));
  return page;
}

Result<CommandOutput> help_command(const Invocation& invocation) {
  if (invocation.arguments.empty()) return CommandOutput{help_page()};
  const std::string& wanted = invocation.arguments.front();
  for (const Topic& topic : kTopics)
    if (topic.name == wanted) return CommandOutput{topic.page()};
  if (const Subcommand* subcommand = find_subcommand(wanted))
    return CommandOutput{help_page(*subcommand)};
  if (const OtherProgram* program = find_program(wanted))
    return CommandOutput{std::string(program->help)};
  return Error{
      Code::usage, "unknown help topic " + quoted(wanted),
      "topics: options, exit-codes, outcomes, environment, every subcommand, " + program_names()};
}

}  // namespace cronlatch
