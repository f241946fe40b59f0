// SPDX-License-Identifier: Apache-2.0
// The rows of THE option table, and the names that are derived from a row's key.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/lock_name.h"
#include "options/options.h"
#include "options/push_url.h"

namespace cronlatch {
namespace {

using O = Options;
constexpr auto kRun = Scope::run;
constexpr auto kPolicy = Scope::policy;
constexpr auto kStore = Scope::store;
constexpr auto kReporting = Scope::reporting;
constexpr auto kFlagOnly = Scope::flag_only;
constexpr bool kYes = true, kNo = false;

constexpr std::string_view kOwnLock = "`_cmd/` and 16 hex digits of the command's SHA-256";
constexpr std::string_view kOwnStore =
    "`file:///run/cronlatch` as root, else `file:///tmp/cronlatch-<uid>`";
constexpr std::string_view kLockChars = "1 to 200 of letters, digits, . _ - /";
constexpr std::string_view kText = "1 to 200 bytes of UTF-8 without control characters";
constexpr std::string_view kPath = "a path";
constexpr std::string_view kYear = "0 to 365d";

// clang-format off
constexpr Option kOptions[] = {
    {"lock", &O::lock, "", kOwnLock, kLockChars, kRun, kYes, "name of the lock", check_lock_name},
    {"job", &O::job, "", "none", kText, kRun, kNo, "the job that counters are attributed to, where several jobs share a lock"},
    {"store", &O::store, "", kOwnStore, "a URL", kStore, kNo, "where locks live: `file:///dir`, `redis://[user@]host[:port][/db]`, `rediss://...` (TLS)", check_store_url},
    {"ttl", &O::ttl, "2m", "", "5s to 1h", kPolicy, kYes, "length of the lease: how long a crash blocks the lock"},
    {"renew-every", &O::renew_every, "", "ttl/3, at most 10s", "200ms to 20m", kPolicy, kNo, "how often the lease is renewed, and how soon its loss is noticed"},
    {"on-busy", &O::on_busy, "skip", "", "skip, wait, fail", kPolicy, kYes, "when somebody else runs: `skip` (exit 0), `wait`, `fail` (exit 75)"},
    {"skip-command", &O::skip_command, "", "none", "a JSON array of strings", kPolicy, kYes, "run instead of the command when the run is skipped; its exit code is reported, not returned"},
    {"wait-timeout", &O::wait_timeout, "0", "", kYear, kRun, kYes, "longest wait for the lock (then exit 75) and for the store (then exit 69); 0: no limit"},
    {"min-hold", &O::min_hold, "0", "", "0 to 7d", kRun, kYes, "the lock stays taken at least this long after it was acquired"},
    {"max-run", &O::max_run, "0", "", kYear, kRun, kYes, "then TERM, `kill-after`, KILL, exit 124; 0: no limit"},
    {"kill-after", &O::kill_after, "10s", "", "0 to 1h", kPolicy, kYes, "between TERM and KILL; a short ttl leaves less"},
    {"leftovers", &O::leftovers, "end", "", "end, wait, leave", kPolicy, kYes, "processes the command leaves behind: `end` them, `wait` for them, `leave` them (unsafe)"},
    {"untracked", &O::untracked, "refuse", "", "refuse, allow", kPolicy, kNo, "a lease over processes that cannot be found (no /proc): `refuse` (exit 78), `allow` (unsafe)"},
    {"warn-after", &O::warn_after, "0", "", kYear, kRun, kYes, "warn once when the command still runs; 0: off"},
    {"on-lost", &O::on_lost, "kill", "", "kill, term, warn", kPolicy, kYes, "when the lease is lost: `kill`; `term` and `warn` are unsafe"},
    {"on-store-down", &O::on_store_down, "fail", "", "fail, wait, run", kPolicy, kYes, "when the store is down at the start: `fail` (exit 69), `wait`, `run` without a lock (unsafe)"},
    {"once-per", &O::once_per, "", "none", kText, kRun, kNo, "identity of this run: done once, never again while it is remembered"},
    {"once-ttl", &O::once_ttl, "35d", "", "1m to 365d", kPolicy, kYes, "how long a finished identity is remembered, the newest 128 of each job"},
    {"grace-period", &O::grace_period, "30s", "", "1s to 1d", kRun, kNo, "how long a run may live on after TERM: bounds how long a done identity is tried to be recorded"},
    {"attempt-group", &O::attempt_group, "", "none", kText, kRun, kNo, "runs of a group that was granted once never skip afterwards: they wait, at most 2 ttl, then exit 75"},
    {"holder", &O::holder, "", "host:pid:boot-id", kText, kRun, kNo, "who we are, for people; decides nothing"},
    {"credentials-dir", &O::credentials_dir, "", "none", "a directory", kStore, kNo, "files `username`, `password`, `ca.crt`, `tls.crt`, `tls.key`: those that exist are used"},
    {"redis-username", &O::redis_username, "", "none", kText, kStore, kNo, "user at the store"},
    {"password-file", &O::password_file, "", "none", kPath, kStore, kNo, "file with the password; goes before `CRONLATCH_PASSWORD`"},
    {"tls-ca", &O::tls_ca, "", "the system's CAs", kPath, kStore, kNo, "certificates of the authorities to trust (PEM)"},
    {"tls-cert", &O::tls_cert, "", "none", kPath, kStore, kNo, "our certificate (PEM); needs `tls-key`"},
    {"tls-key", &O::tls_key, "", "none", kPath, kStore, kNo, "key of our certificate (PEM)"},
    {"tls-server-name", &O::tls_server_name, "", "host of the URL", kText, kStore, kNo, "name that the store's certificate must carry"},
    {"tls-skip-verify", &O::tls_skip_verify, "false", "", "true, false", kStore, kNo, "accept any certificate (unsafe; warned at every start)"},
    {"connect-timeout", &O::connect_timeout, "5s", "", "100ms to 1m", kStore, kNo, "to reach the store: names, TCP, TLS, login"},
    {"op-timeout", &O::op_timeout, "", "ttl/10, at most 3s", "50ms to 1m", kStore, kNo, "one call to the store"},
    {"key-prefix", &O::key_prefix, "cronlatch:", "", "1 to 100 bytes, no blanks, no braces", kStore, kNo, "begins every key in Redis: what separates worlds (test and production)", check_key_prefix},
    {"exit-skipped", &O::exit_skipped, "0", "", "0 to 255", kPolicy, kNo, "exit code of a skipped run"},
    {"outcome-file", &O::outcome_file, "", "none", kPath, kRun, kNo, "gets the outcome as one line of JSON"},
    {"metrics-file", &O::metrics_file, "", "none", kPath, kRun, kNo, "gets Prometheus text for node_exporter's textfile collector"},
    {"metrics-push", &O::metrics_push, "", "none", "a URL", kRun, kNo, "Pushgateway that gets them after the run: `http://host:9091`, or `https://...` with the `tls-...` options", check_push_url},
    {"log-format", &O::log_format, "text", "", "text, json, logfmt", kReporting, kNo, "shape of our lines on stderr"},
    {"log-level", &O::log_level, "info", "", "error, warn, info, debug", kReporting, kNo, "the least important lines that are shown"},
    {"config", &O::config, "", "`/etc/cronlatch.yaml` if it exists", kPath, kFlagOnly, kNo, "file of options (YAML); a flag or `CRONLATCH_CONFIG`"},
    {"isolated", &O::isolated, "false", "", "true, false", kFlagOnly, kNo, "environment and files give no options; only a flag"},
    {"command-by-arch", &O::command_by_arch, "", "none", "a JSON object of arrays", kFlagOnly, kNo, "begins the command, by the architecture it runs on, as in `{\"amd64\": [\"/app\"]}`; what follows `--` ends it"},
};
// clang-format on

// Only --config has a variable among the options that are flags: it says where the file is, so it
// cannot be in the file.
constexpr std::string_view kKeyWithVariableOnly = "config";

}  // namespace

std::span<const Option> option_table() { return kOptions; }

const Option* find_option(std::string_view key) {
  for (const Option& option : kOptions)
    if (option.key == key) return &option;
  return nullptr;
}

std::string_view nearest_option(std::string_view wrong) {
  std::string key;
  for (const char c : wrong.substr(0, 100))
    key += c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string_view best;
  // One slip in three letters is still a typing error; more is another word.
  std::size_t best_distance = (key.size() + 2) / 3 + 1;
  for (const Option& option : kOptions) {
    const std::size_t distance = edit_distance(key, option.key);
    if (distance >= best_distance) continue;
    best = option.key;
    best_distance = distance;
  }
  return best;
}

std::string flag_of(const Option& option) { return "--" + std::string(option.key); }

std::string variable_of(const Option& option) {
  if (option.scope == Scope::flag_only && option.key != kKeyWithVariableOnly) return "";
  std::string name = "CRONLATCH_";
  for (const char c : option.key) name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name;
}

std::string annotation_of(const Option& option) {
  return option.annotatable ? "cronlatch.dev/" + std::string(option.key) : "";
}

Options default_options() {
  Options options;
  for (const Option& option : kOptions)
    if (!option.fallback.empty()) (void)apply_text(options, option, option.fallback).ok();
  return options;
}

}  // namespace cronlatch
