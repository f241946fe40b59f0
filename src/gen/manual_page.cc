// SPDX-License-Identifier: Apache-2.0
// packaging/man/cronlatch.1.
#include "cli/help.h"
#include "config/environment.h"
#include "config/load.h"
#include "core/outcome.h"
#include "core/store_schemes.h"
#include "gen/completion_table.h"
#include "gen/pages.h"
#include "gen/troff.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

std::string subcommands() {
  std::string out = troff::section("SUBCOMMANDS");
  for (const Subcommand& subcommand : subcommand_table()) {
    std::string text(subcommand.help);
    for (const ExtraFlag& flag : subcommand.flags) {
      const std::string value = flag.takes_value() ? " " + std::string(flag.value) : "";
      text += ". `" + std::string(flag.name) + value + "`: " + std::string(flag.help);
    }
    out += troff::item(subcommand.name, subcommand.usage, text + ".") +
           troff::lines(subcommand.details);
  }
  return out;
}

std::string default_of(const Option& option) {
  return option.fallback.empty() ? std::string(option.fallback_note)
                                 : "`" + std::string(option.fallback) + "`";
}

std::string options() {
  std::string out =
      troff::section("OPTIONS") +
      troff::text(
          "All names of an option are derived from its key. `on-busy` is the flag `--on-busy`, the "
          "variable `CRONLATCH_ON_BUSY` and the key `on-busy:` in the configuration file. Order of "
          "precedence: flag, environment, file, default. A duration has a unit: `30s`, `1h30m`.");
  for (const Option& option : option_table())
    out += troff::item(flag_of(option), "",
                       std::string(option.help) + ". Allowed: " + std::string(option.limits) +
                           ". Default: " + default_of(option) + ".");
  return out;
}

std::string environment() {
  std::string out = troff::section("ENVIRONMENT") +
                    troff::text(
                        "Each option except `isolated` and `command-by-arch` has a "
                        "variable. The password of the store is "
                        "`CRONLATCH_PASSWORD`. The command receives:");
  for (const HelpEntry& entry : command_variables())
    out += troff::item(entry.word, "", std::string(entry.text) + ".");
  return out;
}

std::string stores() {
  std::string out = troff::section("STORES");
  for (const StoreScheme& scheme : store_schemes())
    if (scheme.is_supported)
      out += troff::item(scheme.syntax, "", std::string(scheme.description) + ".");
  return out;
}

std::string exit_status() {
  std::string out = troff::section("EXIT STATUS") + troff::text(
                                                        "Of `cronlatch run`. The other subcommands "
                                                        "return 0 for success, and the codes 64 to "
                                                        "78.");
  for (const ExitRow& row : exit_table())
    out += troff::item(row.code, "", std::string(row.meaning) + ".");
  return out;
}

std::string examples() {
  std::string out;
  for (const Subcommand& subcommand : subcommand_table()) {
    const std::string help = std::string(subcommand.help) + ":";
    out += out.empty() ? troff::section("EXAMPLES") + troff::text(help) : troff::paragraph(help);
    out += troff::example(subcommand.example);
  }
  return out;
}

}  // namespace

std::string manual_page() {
  return troff::page("cronlatch", "run a command while holding a lock",
                     "the tables in src/cli, src/options and src/core") +
         troff::section("SYNOPSIS") +
         troff::synopsis("cronlatch run", "[options] -- COMMAND [ARG...]") + troff::line_break() +
         troff::synopsis("cronlatch", "SUBCOMMAND [options]") + troff::section("DESCRIPTION") +
         troff::text(
             "`cronlatch run` runs the command while it holds the lock. If another run holds it, "
             "on "
             "this host or on any host that shares the store, the run is skipped. The lock has a "
             "lease, which is renewed while the command runs. When the lease is lost, the command "
             "is "
             "stopped before another run can be granted the lock.") +
         troff::paragraph(
             "Without a configured store, the lock is a file of this host. The documentation "
             "(docs/guarantees.md) describes what a lease does and does not guarantee.") +
         subcommands() + options() + stores() + environment() + troff::section("FILES") +
         troff::item(kDefaultConfig, "",
                     "options as a flat YAML map, if `--config` and `CRONLATCH_CONFIG` do not name "
                     "another file.") +
         exit_status() + examples() + troff::section("SEE ALSO") +
         "\\fBkubectl\\-cronlatch\\fR(1), \\fBflock\\fR(1), \\fBcrontab\\fR(5), "
         "\\fBsystemd.timer\\fR(5)\n";
}

}  // namespace cronlatch::gen
