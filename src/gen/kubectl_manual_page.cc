// SPDX-License-Identifier: Apache-2.0
// packaging/man/kubectl-cronlatch.1.
#include <algorithm>

#include "gen/pages.h"
#include "gen/troff.h"
#include "plugin/flag.h"
#include "plugin/verb.h"

namespace cronlatch::gen {
namespace {

std::string commands() {
  std::string out = troff::section("COMMANDS");
  for (const plugin::Verb& verb : plugin::verb_table()) {
    std::string text = std::string(verb.help) + ".";
    if (!verb.alias.empty()) text += " Alias: `" + std::string(verb.alias) + "`.";
    std::string details(verb.details);
    while (details.ends_with('\n')) details.pop_back();
    if (!details.empty()) text += " " + details;
    out += troff::item(verb.name, verb.argument, text);
  }
  return out;
}

std::string flags() {
  std::string out = troff::section("FLAGS");
  for (const plugin::Flag& flag : plugin::flag_table()) {
    std::string verbs;
    const auto table = plugin::verb_table();
    const auto accepts = [&](const plugin::Verb& verb) { return verb.accepts(flag.name); };
    if (!std::all_of(table.begin(), table.end(), accepts))
      for (const plugin::Verb& verb : table)
        if (accepts(verb)) verbs += (verbs.empty() ? "" : ", ") + std::string(verb.name);
    std::string names(flag.name);
    if (!flag.short_name.empty()) names += ", " + std::string(flag.short_name);
    out +=
        troff::item(names, flag.value,
                    std::string(flag.help) + (verbs.empty() ? "." : ". Commands: " + verbs + "."));
  }
  return out + troff::paragraph("The flags of `kubectl options` are passed to kubectl.");
}

}  // namespace

std::string kubectl_manual_page() {
  return troff::page("kubectl-cronlatch", "the CronJobs of a cluster that have a lock",
                     "the tables in src/plugin") +
         troff::section("SYNOPSIS") + troff::synopsis("kubectl cronlatch", "[COMMAND] [flags]") +
         troff::section("DESCRIPTION") +
         troff::text(
             "A plugin of kubectl, which runs it if `kubectl-cronlatch` is in PATH. It reads the "
             "cluster with kubectl and has no credentials of its own. Without a command it is "
             "`kubectl cronlatch ls`.") +
         commands() + flags() + troff::section("ENVIRONMENT") +
         troff::item("KUBECTL_CRONLATCH_STATUS", "", "the value of `--status`.") +
         troff::section("EXAMPLES") + troff::text("every gated CronJob of the cluster:") +
         troff::example("kubectl cronlatch -A") +
         troff::paragraph("why the last run of a CronJob did not start:") +
         troff::example("kubectl cronlatch why nightly -n shop") + troff::section("SEE ALSO") +
         "\\fBcronlatch\\fR(1), \\fBkubectl\\fR(1)\n";
}

}  // namespace cronlatch::gen
