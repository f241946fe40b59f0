// SPDX-License-Identifier: Apache-2.0
// The rows, in the order of the help page.
#include "cli/subcommand.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/subcommand_flags.h"

namespace cronlatch {
namespace {

// clang-format off
constexpr std::span<const ExtraFlag> kNoFlags;
constexpr std::array kSubcommands = {
    Subcommand{"run", "[options] -- COMMAND [ARG...]", "run a command while holding a lock",
               "cronlatch run --lock reports/nightly -- /usr/local/bin/report",
               "The exit code is the command's own, 0 when the run was skipped, and one of\n"
               "`cronlatch help exit-codes` otherwise. It never writes to standard output.\n",
               kNoFlags, run_command},
    Subcommand{"explain", "[options] -- COMMAND [ARG...]", "what run would do now, without a lock",
               "cronlatch explain --lock reports/nightly -- /usr/local/bin/report", "",
               kOutputFlags, explain_command},
    Subcommand{"hold", "LOCK --for TIME [options]",
               "keep a lock for maintenance",
               "cronlatch hold reports/nightly --for 2h --reason 'database maintenance'",
               "The lock is released at the end of the time, and by Ctrl-C. A lock that another\n"
               "run holds is not taken: exit code 75; with --on-busy wait, hold waits for it.\n"
               "The exit code is 0 if the lock was kept to the end, else that of `run`.\n",
               kHoldFlags, hold_command},
    Subcommand{"as", "NAME [ARG...]", "accept another program's flags",
               "cronlatch as lockrun --lockfile=/var/lock/report -- /usr/local/bin/report",
               "NAME is cronlock, golock or lockrun. A link with that name does the same:\n"
               "  ln -s /usr/local/bin/cronlatch /usr/local/bin/lockrun\n"
               "The flag --explain prints the command line of `cronlatch run` and runs nothing.\n"
               "The flags, variables and exit codes of a program: cronlatch help lockrun\n",
               kNoFlags, as_command},
    Subcommand{"ls", "[options]", "the locks in the store",
               "cronlatch ls --store rediss://redis.example", "", kLocksFlags, ls_command},
    Subcommand{"show", "LOCK [options]", "one lock, every field and counter",
               "cronlatch show reports/nightly", "", kLocksFlags, show_command},
    Subcommand{"release", "LOCK --force [options]", "revoke a lease, which stops its command",
               "cronlatch release reports/nightly --force",
               "A file store has no lease to revoke: terminate the process that `show` displays.\n",
               kReleaseFlags, release_command},
    Subcommand{"metrics", "[options]", "lock statistics as Prometheus text",
               "cronlatch metrics", "", kNoFlags, metrics_command},
    Subcommand{"advise", "[options]", "recommended settings, from statistics",
               "cronlatch advise",
               "The annotation cronlatch.dev/KEY of a CronJob is the option KEY of a run.\n",
               kAdviseFlags, advise_command},
    Subcommand{"config", "[options]", "every option, its value and its origin",
               "cronlatch config --config ./cronlatch.yaml", "", kOutputFlags,
               config_command},
    Subcommand{"store", "init [options]", "prepare a store for its first use",
               "cronlatch store init --store postgres://owner@db.example/cronlatch",
               "postgres:// needs its schema before the first run. The owner of the database\n"
               "executes it; a run needs only the role cronlatch_user. With strict, one Redis\n"
               "server or Sentinels need their first epoch. It may be executed again.\n",
               kStoreFlags, store_command},
    Subcommand{"install", "DIR", "copy this program into DIR", "cronlatch install /cronlatch",
               "DIR must exist. The copy is DIR/cronlatch, mode 0555; it appears complete or\n"
               "not at all.\n",
               kNoFlags, install_command},
    Subcommand{"sleep", "DURATION", "wait: the command of hold", "cronlatch sleep 30s", "", kNoFlags,
               sleep_command},
    Subcommand{"demo", "", "a run, a skip and a takeover", "cronlatch demo",
               "It takes ten seconds. Its store is a temporary directory, which it removes.\n"
               "No option, file or variable has an effect on it.\n",
               kNoFlags, demo_command},
    Subcommand{"version", "", "print the version", "cronlatch version", "", kNoFlags, version_command},
    Subcommand{"help", "[TOPIC]", "this page, a subcommand or a topic", "cronlatch help exit-codes",
               "Topics: options, exit-codes, outcomes, environment, and every subcommand.\n",
               kNoFlags, help_command},
};
// clang-format on

constexpr std::size_t kMaxTypoDistance = 2;  // more is another word

}  // namespace

std::span<const Subcommand> subcommand_table() { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) {
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version" || name == "-V") name = "version";
  const auto at = std::ranges::find(kSubcommands, name, &Subcommand::name);
  return at == kSubcommands.end() ? nullptr : &*at;
}

Error unknown_subcommand(std::string_view name) {
  const auto distance = [&](const Subcommand& s) { return edit_distance(name, s.name); };
  const auto nearest = std::ranges::min_element(kSubcommands, {}, distance);
  std::string hint = "see: cronlatch help";
  if (distance(*nearest) <= kMaxTypoDistance && distance(*nearest) < name.size())
    hint = "did you mean " + std::string(nearest->name) + "? see: cronlatch help";
  else if (!name.empty() && (name.front() == '-' || name.find('/') != name.npos))
    hint = "to run a command: cronlatch run [options] -- COMMAND";
  return Error{Code::usage, "unknown subcommand " + quoted(name), hint};
}

}  // namespace cronlatch
