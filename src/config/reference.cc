// SPDX-License-Identifier: Apache-2.0
// One function per page. Sentences stand here; every name, default, limit and code comes from a
// table.
#include "config/reference.h"

#include <algorithm>
#include <variant>

#include "config/environment.h"
#include "config/held_locks.h"
#include "core/outcome.h"
#include "core/store_schemes.h"
#include "metrics/metrics_table.h"
#include "options/options.h"

namespace cronlatch {
namespace {

constexpr std::string_view kGenerated =
    "<!-- Rendered from the tables in src/core by `./dev gen`. Do not edit. -->\n";

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// A row of a table; | inside a cell would end it.
std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) {
    out += ' ';
    for (const char c : cell) out += c == '|' ? "\\|" : std::string(1, c);
    out += " |";
  }
  return out + "\n";
}

std::string header(const std::vector<std::string>& cells) {
  return row(cells) + row(std::vector<std::string>(cells.size(), "---"));
}

// ---- options ----

std::string_view title_of(Scope scope) {
  switch (scope) {
    case Scope::run:
      return "This run";
    case Scope::policy:
      return "How a run behaves";
    case Scope::store:
      return "The store";
    case Scope::reporting:
      return "How cronlatch speaks";
    case Scope::flag_only:
      return "Where options come from";
  }
  return "";
}

std::string_view note_of(Scope scope) {
  switch (scope) {
    case Scope::run:
      return "The variables of these are removed from the command's environment, so that a "
             "`cronlatch run` inside a\n"
             "gated script takes a lock of its own.";
    case Scope::policy:
      return "";
    case Scope::store:
      return "The variables of these stay in the command's environment; a password never does.";
    case Scope::reporting:
      return "";
    case Scope::flag_only:
      return "These cannot stand in a file.";
  }
  return "";
}

std::string fallback_of(const Option& option) {
  return option.fallback.empty() ? std::string(option.fallback_note) : code(option.fallback);
}

std::string option_section(Scope scope) {
  std::string out = "\n## " + std::string(title_of(scope)) + "\n\n";
  if (!note_of(scope).empty()) out += std::string(note_of(scope)) + "\n\n";
  out += header({"key", "default", "allowed", "meaning"});
  for (const Option& option : option_table())
    if (option.scope == scope)
      out += row({code(option.key), fallback_of(option), std::string(option.limits),
                  std::string(option.help)});
  return out;
}

std::string store_section() {
  std::string out = "\nThe URL of `store`:\n\n" + header({"URL", "store"});
  for (const StoreScheme& scheme : store_schemes())
    if (scheme.is_supported) out += row({code(scheme.syntax), std::string(scheme.description)});
  return out;
}

std::string variable_section() {
  std::string removed;
  for (const Option& option : option_table())
    if (option.scope == Scope::run)
      removed += (removed.empty() ? "" : ", ") + code(variable_of(option));
  return "\n## What the command finds in its environment\n\n" + header({"variable", "meaning"}) +
         row({code(kLockNameVariable), "name of the lock"}) +
         row({code(kLockHolderVariable), "the option `holder`"}) +
         row({code(kFenceVariable),
              "a number that rises with every grant of the lock; not there when it runs ungated"}) +
         row({code(kLeaseVariable),
              "length of the lease in milliseconds; not there in a file store, which has no "
              "lease"}) +
         row({code(kScheduledTimeVariable),
              "where `once-per` ends in `@<seconds since 1970>`: that time, RFC 3339"}) +
         row({code(kHeldVariable),
              "digests of the locks that this run and those around it hold, each with its store, "
              "separated by commas; a nested run that asks for one of them is refused (78); it "
              "decides nothing else"}) +
         "\nRemoved: " + code(kPasswordVariable) + ", " + removed + ".\n";
}

std::string options_page() {
  std::string out = "# Options\n\n" + std::string(kGenerated) + R"(
    cronlatch run --lock reports/nightly --store rediss://cronlatch@redis.example:6379 -- ./report.sh

The key gives every name: `on-busy` is the flag `--on-busy`, the variable `CRONLATCH_ON_BUSY` and the key `on-busy:` in
the configuration file. A flag goes before the environment, the environment before the file, the file before the default;
`cronlatch config` shows every value and where it came from. An unknown key is an error, wherever it stands.

* A flag takes its value behind a blank or behind `=`; a switch alone means `true`. `--` ends the options.
* Durations carry a unit: `1500ms`, `30s`, `5m`, `1h30m`, `35d`. Only `0` needs none.
* The file is a flat map of keys. `skip-command` may be a list; everything else is one value.
* The file is `--config`, else `CRONLATCH_CONFIG`, else `/etc/cronlatch.yaml` if it exists.
)";
  for (const Scope scope :
       {Scope::run, Scope::policy, Scope::store, Scope::reporting, Scope::flag_only}) {
    out += option_section(scope);
    if (scope == Scope::store) out += store_section();
  }
  out += R"(
## Password, user and certificates

A password is never a flag and never part of a URL, wherever the URL stands: both are refused. The first of these counts:

1. the file named by `password-file`
2. the variable `CRONLATCH_PASSWORD` (a warning is logged when `password-file` hides it; `isolated` ignores it)
3. the file `password` in `credentials-dir`

One newline at the end of such a file is not part of the password. In the same directory `username`, `ca.crt`, `tls.crt`
and `tls.key` count where `redis-username`, `tls-ca`, `tls-cert` and `tls-key` are not set. A file store reads none of them.
)";
  return out + variable_section();
}

// ---- exit codes and outcomes ----

std::string exit_codes_page() {
  std::string out =
      "# Exit codes\n\n" + std::string(kGenerated) + "\n" + header({"code", "meaning"});
  for (const ExitRow& r : exit_table()) out += row({std::string(r.code), std::string(r.meaning)});
  return out + R"(
The outcome (outcomes.md) tells apart what shares a code with the command: a command that exits 75 itself is `ran`.
The other subcommands use 0 for success and the codes 64 to 78 with the meanings above.
)";
}

std::string code_for(Kind kind, Reason reason, Code error) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = reason;
  outcome.error = Error{error, ""};
  return std::to_string(exit_code(outcome, 0));
}

std::string codes_of(Kind kind) {
  switch (kind) {
    case Kind::ran:
      return "the command's own";
    case Kind::skipped:
      return code_for(kind, Reason::held, Code::bug) + ", or `exit-skipped`";
    case Kind::busy:
    case Kind::lost:
    case Kind::store_down:
    case Kind::timed_out:
      return code_for(kind, Reason::none, Code::bug);
    case Kind::usage:
      return code_for(kind, Reason::none, Code::usage);
    case Kind::refused:
      return code_for(kind, Reason::auth, Code::auth) +
             "; reason config: " + code_for(kind, Reason::config, Code::config);
    case Kind::interrupted:
      return "128+n";
    case Kind::cannot_start:
      return code_for(kind, Reason::exec, Code::exec_denied) + ", " +
             code_for(kind, Reason::exec, Code::exec_missing);
  }
  return "";
}

Outcome example_outcome() {
  Outcome outcome;
  outcome.kind = Kind::skipped;
  outcome.reason = Reason::held;
  outcome.lock = "reports/nightly";
  outcome.fence = 1'763'690'000'123'456;
  outcome.holder = "reports/nightly-29-abc";
  outcome.started = WallTime{1'795'226'400'000'000};
  return outcome;
}

std::string outcomes_page() {
  std::string out = "# Outcomes\n\n" + std::string(kGenerated) + R"(
How a run ended, as one line of JSON of at most 1,024 bytes: in the file named by `outcome-file`, and with
`log-format=json` as the last line of the log.

    )" + to_json(example_outcome(), 0) +
                    R"(

`lock`, `fence`, `holder`: of this run where it ran, of whoever holds the lock where it was skipped or busy. `waited_ms`: from
the first question to the answer. `held_ms`: from the grant to the end of the command. `fence` is text, because it is
longer than some readers of JSON keep exactly. A holder, then a lock that would make the line too long ends in `...`.
Only where they are known: `since` and `until`, the lease of whoever holds the lock; `"stolen":true` where the last holder's
lease had expired unreleased; `"not_marked":true` where the identity given by `once-per` is done, but could not be recorded as done.

## outcome

)" + header({"outcome", "meaning", "exit code"});
  for (const KindRow& r : kind_table())
    out += row({code(r.name), std::string(r.meaning), codes_of(r.kind)});
  out +=
      "\n## reason\n\nEmpty where there is nothing to explain.\n\n" + header({"reason", "meaning"});
  for (const ReasonRow& r : reason_table()) out += row({code(r.name), std::string(r.meaning)});
  return out;
}

// ---- metrics ----

std::string label_values(const Metric& metric) {
  if (metric.label.empty()) return "";
  std::string out = code(metric.label);
  if (const auto* series = std::get_if<std::span<const CounterSeries>>(&metric.source)) {
    for (const CounterSeries& one : *series)
      out += (&one == series->data() ? ": " : ", ") + std::string(one.label_value);
  }
  return out;
}

std::string metric_rows(const std::vector<Exporter>& of, const char* labels) {
  std::string out = header({"name", "type", labels, "meaning"});
  for (const Metric& metric : metric_table())
    if (std::ranges::find(of, metric.exporter) != of.end())
      out += row({code(metric.name), std::string(name_of(metric.type)), label_values(metric),
                  std::string(metric.help)});
  return out;
}

std::string metrics_page() {
  std::string out = "# Metrics\n\n" + std::string(kGenerated) + R"(
`cronlatch metrics` prints the store's ledger as Prometheus text; `metrics-file` gets the same for the lock of one run;
the operator's leader exports all of it. Every series of the first two tables carries the labels `namespace`, `cronjob`
(from the option `job`) and `lock`.

## Of a lock

)" + metric_rows({Exporter::lock_stats, Exporter::run}, "more labels");
  out += R"(
## Of a gated CronJob (the operator's leader)

)" + metric_rows({Exporter::cronjob}, "more labels");
  return out + R"(
## Of the operator itself

Every replica exports these, without the labels above; `cronlatch_gated_cronjobs` and `cronlatch_ungated_jobs_total` count in
the leader.

)" + metric_rows({Exporter::own}, "labels");
}

}  // namespace

std::vector<Page> reference_pages() {
  return {{"docs/reference/options.md", options_page()},
          {"docs/reference/exit-codes.md", exit_codes_page()},
          {"docs/reference/outcomes.md", outcomes_page()},
          {"docs/reference/metrics.md", metrics_page()}};
}

}  // namespace cronlatch
