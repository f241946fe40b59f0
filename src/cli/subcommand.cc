// SPDX-License-Identifier: Apache-2.0
// The rows, in the order of the help page.
#include "cli/subcommand.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cronlatch {
namespace {

// clang-format off
constexpr std::string_view kOutputFlag =
    "  -o table|json   output format; table is the default\n";
constexpr std::string_view kLocksOutput =
    "  -o table|json   output format; table is the default. JSON objects have lock,\n"
    "                  state (free, held, expired, cooling, revoked, damaged),\n"
    "                  holder, job, fence, attempt, since, expires, ttl_ms, pid,\n"
    "                  counters, jobs\n";
constexpr std::array kSubcommands = {
    Subcommand{"run", "[options] -- COMMAND [ARG...]", "run a command while holding a lock",
               "cronlatch run --lock reports/nightly -- /usr/local/bin/report",
               "The exit code is the command's own, 0 when the run was skipped, and one of\n"
               "`cronlatch help exit-codes` otherwise. It never writes to standard output.\n",
               run_command},
    Subcommand{"explain", "[options] -- COMMAND [ARG...]", "what run would do now, without a lock",
               "cronlatch explain --lock reports/nightly -- /usr/local/bin/report", kOutputFlag,
               explain_command},
    Subcommand{"as", "NAME [ARG...]", "accept another program's flags",
               "cronlatch as lockrun --lockfile=/var/lock/report -- /usr/local/bin/report",
               "NAME is cronlock, golock or lockrun. A link with that name does the same:\n"
               "  ln -s /usr/local/bin/cronlatch /usr/local/bin/lockrun\n"
               "The flag --explain prints the command line of `cronlatch run` and runs nothing.\n"
               "The flags, variables and exit codes of a program: cronlatch help lockrun\n",
               as_command},
    Subcommand{"ls", "[options]", "the locks in the store",
               "cronlatch ls --store rediss://redis.example", kLocksOutput, ls_command},
    Subcommand{"show", "LOCK [options]", "one lock, every field and counter",
               "cronlatch show reports/nightly", kLocksOutput, show_command},
    Subcommand{"release", "LOCK --force [options]", "revoke a lease, which stops its command",
               "cronlatch release reports/nightly --force",
               "  --force     revoke; without it the state of the lock is reported\n"
               "  --no-wait   do not wait until it is released or its lease has ended\n"
               "A file store has no lease to revoke: terminate the process that `show` displays.\n",
               release_command},
    Subcommand{"metrics", "[options]", "lock statistics as Prometheus text",
               "cronlatch metrics", "", metrics_command},
    Subcommand{"advise", "[options]", "recommended settings, from statistics",
               "cronlatch advise",
               "  -o table|json    output format; table is the default\n"
               "  --schedule CRON  schedule of the lock in --lock, for example '*/5 * * * *';\n"
               "                   the lock statistics contain no schedule\n",
               advise_command},
    Subcommand{"config", "[options]", "every option, its value and its origin",
               "cronlatch config --config ./cronlatch.yaml", kOutputFlag, config_command},
    Subcommand{"store", "init [options]", "create the schema of postgres://",
               "cronlatch store init --store postgres://owner@db.example/cronlatch",
               "  --print   print the SQL instead, for psql; no server is contacted\n"
               "It may be executed again. The owner of the database executes it; a run needs\n"
               "only the role cronlatch_user.\n",
               store_command},
    Subcommand{"install", "DIR", "copy this program into DIR", "cronlatch install /cronlatch",
               "DIR must exist. The copy is DIR/cronlatch, mode 0555; it appears complete or\n"
               "not at all.\n",
               install_command},
    Subcommand{"version", "", "print the version", "cronlatch version", "", version_command},
    Subcommand{"help", "[TOPIC]", "this page, a subcommand or a topic", "cronlatch help exit-codes",
               "Topics: options, exit-codes, outcomes, environment, and every subcommand.\n",
               help_command},
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
