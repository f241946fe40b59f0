// SPDX-License-Identifier: Apache-2.0
// docs/reference/options.md.
#include "config/environment.h"
#include "config/held_locks.h"
#include "core/store_schemes.h"
#include "gen/markdown.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

std::string_view title_of(Scope scope) {
  switch (scope) {
    case Scope::run:
      return "This run";
    case Scope::policy:
      return "The behavior of a run";
    case Scope::store:
      return "The store";
    case Scope::reporting:
      return "The log";
    case Scope::flag_only:
      return "Sources of options";
  }
  return "";
}

std::string_view note_of(Scope scope) {
  switch (scope) {
    case Scope::run:
      return "cronlatch removes the variables of these options from the command's environment. A "
             "`cronlatch run` inside a\ngated script therefore has its own lock. A file that "
             "both read (`CRONLATCH_CONFIG`, `/etc/cronlatch.yaml`)\nsets these options for both: "
             "write them as flags or variables. Flags, also `--store`, do not reach the\n"
             "inner run.";
    case Scope::policy:
      return "";
    case Scope::store:
      return "The variables of these options stay in the command's environment. A password does "
             "not.";
    case Scope::reporting:
      return "";
    case Scope::flag_only:
      return "A file cannot contain these options.";
  }
  return "";
}

std::string option_section(Scope scope) {
  std::string out = "\n## " + std::string(title_of(scope)) + "\n\n";
  if (!note_of(scope).empty()) out += std::string(note_of(scope)) + "\n\n";
  out += header({"key", "default", "allowed", "meaning"});
  for (const Option& option : option_table())
    if (option.scope == scope)
      out += row({code(option.key), default_cell(option), std::string(option.limits),
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
  return "\n## Environment of the command\n\n" + header({"variable", "meaning"}) +
         row({code(kLockNameVariable), "name of the lock"}) +
         row({code(kLockHolderVariable), "the option `holder`"}) +
         row({code(kFenceVariable),
              "a number that increases with every grant of the lock; not set if the run has no "
              "lock"}) +
         row({code(kLeaseVariable),
              "length of the lease in milliseconds; not set with a file store, which has no "
              "lease"}) +
         row({code(kScheduledTimeVariable),
              "if `once-per` ends in `@<seconds since 1970>`: that time, RFC 3339"}) +
         row({code(kHeldVariable),
              "digests of the locks that this run and its enclosing runs hold, each with its "
              "store and the process of its run, separated by commas; a nested run that requests "
              "one of them is refused (78) while that process lives; it has no other effect"}) +
         "\n" +
         wrapped(
             "The skip command gets them, too, without the fence and the length of the lease.") +
         "\n\n" + wrapped("Removed variables: " + code(kPasswordVariable) + ", " + removed + ".") +
         "\n";
}

}  // namespace

std::string options_page() {
  std::string out = "# Options\n\n" + generated_from("`src/options/option_table.cc`") + R"(
    cronlatch run --lock reports/nightly --store rediss://cronlatch@redis.example:6379 -- ./report.sh

All names of an option are derived from its key. `on-busy` is the flag `--on-busy`, the variable `CRONLATCH_ON_BUSY`
and the key `on-busy:` in the configuration file. Order of precedence: flag, environment, file, default.
`cronlatch config` prints every value and its source. An unknown key is an error in each of these places.

* The value of a flag follows a blank or `=`. A flag of `true` or `false` means `true` without a value, and its value
  follows `=`. `--` ends the options.
* A duration has a unit: `1500ms`, `30s`, `5m`, `1h30m`, `35d`. Only `0` needs no unit.
* The file is a flat map of keys. `skip-command` may be a list; every other option is one value.
* The file is `--config`, else `CRONLATCH_CONFIG`, else `/etc/cronlatch.yaml` if it exists.
)";
  for (const Scope scope :
       {Scope::run, Scope::policy, Scope::store, Scope::reporting, Scope::flag_only})
    out += option_section(scope) + (scope == Scope::store ? store_section() : "");
  out += R"(
## Password, user and certificates

A password in a flag or in a URL is refused. cronlatch uses the first of these:

1. the file named by `password-file`
2. the variable `CRONLATCH_PASSWORD` (a warning is logged if `password-file` takes precedence; `isolated` ignores it)
3. the file `password` in `credentials-dir`

One newline at the end of such a file is not part of the password. The files `username`, `ca.crt`, `tls.crt` and
`tls.key` in the same directory are used if `redis-username`, `tls-ca`, `tls-cert` and `tls-key` are not set. Both user
names replace the user of the URL. A file store reads none of them.
)";
  return out + variable_section();
}

}  // namespace cronlatch::gen
