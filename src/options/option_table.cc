// SPDX-License-Identifier: Apache-2.0
// The rows of the option table, and the names that are derived from a row's key.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/lock_file.h"
#include "core/lock_name.h"
#include "core/shared_key.h"
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
constexpr AnnotationText kNoAnnotation{};

constexpr std::string_view kOwnLock = "`_cmd/` and 16 hex digits of the command's SHA-256";
constexpr std::string_view kOwnStore =
    "`file:///run/cronlatch` as root, else `file:///tmp/cronlatch-<uid>`";
constexpr std::string_view kLockChars = "1 to 200 of letters, digits, . _ - /";
constexpr std::string_view kText = "1 to 200 bytes of UTF-8 without control characters";
constexpr std::string_view kPath = "a path";
constexpr std::string_view kYear = "0 to 365d";

// key, field, default, note on the default, limits, scope, cluster_default, help, annotation, check
// clang-format off
constexpr Option kOptions[] = {
    {"lock", &O::lock, "", kOwnLock, kLockChars, kRun, kNo, "name of the lock",
     {"true", "Requests a lock. `true`: the CronJob's own lock. `false`: not gated. Any other value: the lock of that name in the namespace, shared by all CronJobs that use the name. `yes`, `on`, `1` and similar values are refused. A Job without a CronJob needs a name."}, check_lock_name},
    {"lock-file", &O::lock_file, "", "none", "an absolute path", kRun, kNo, "file of another program (`flock`, `lockrun`) that is locked with flock(2), in place of `lock`; file store only", kNoAnnotation, check_lock_file},
    {"key-format", &O::key_format, "native", "", "native, cronlock, golock, redlock", kRun, kNo, "program that shares the lock by the key `foreign-key`; Redis only; `native`: none"},
    {"foreign-key", &O::foreign_key, "", "none", "1 to 150 bytes, no blanks, no braces", kRun, kNo, "key of another program (see `key-format`) that is the lock, in place of `lock`", kNoAnnotation, check_foreign_key},
    {"job", &O::job, "", "none", kText, kRun, kNo, "job that the counters belong to, if several jobs share a lock"},
    {"store", &O::store, "", kOwnStore, "a URL", kStore, kNo, "`file://`, `redis://`, `redis+sentinel://`, `redis+cluster://` (`rediss...`: TLS), `postgres://`; list: quorum", kNoAnnotation, check_store_url},
    {"ttl", &O::ttl, "2m", "", "5s to 1h", kPolicy, kYes, "length of the lease; a crash blocks the lock for this time",
     {"2m", "Redis may be unavailable under a running command for this time less about 24 s."}},
    {"renew-every", &O::renew_every, "", "ttl/3, at most 10s", "200ms to 20m", kPolicy, kYes, "time between renewals of the lease; a renewal detects a lost or revoked lease"},
    {"on-busy", &O::on_busy, "skip", "", "skip, wait, fail", kPolicy, kYes, "if another run holds the lock: `skip` (exit 0), `wait`, `fail` (exit 75)",
     {"skip", "With `concurrencyPolicy: Replace` the default is `wait`: the predecessor is being stopped, and a skip would leave no run. The wait lasts at most two leases, or half of `activeDeadlineSeconds` if that is not longer than two leases. A warning at the apply reports this."}},
    {"skip-command", &O::skip_command, "", "none", "a JSON array of strings", kPolicy, kYes, "runs in place of a skipped command, not limited by `max-run`; its exit code is reported, not returned",
     {"[\"sh\", \"-c\", \"echo skipped\"]", "For example, to stop a sidecar or to log."}},
    {"wait-timeout", &O::wait_timeout, "0", "", kYear, kRun, kYes, "longest wait for the lock (then exit 75) and for the store (then exit 69); 0: no limit",
     {"30m", "Must be below `activeDeadlineSeconds`."}},
    {"slots", &O::slots, "1", "", "1 to 1000", kRun, kNo, "how many runs may hold the lock at once; equal in all runs of the lock; not with a quorum",
     {"3", "A Job with `parallelism` above 1 needs at least as many slots ([below](#several-pods-of-one-job))."}},
    {"min-hold", &O::min_hold, "0", "", "0 to 7d", kRun, kYes, "the lock stays closed for at least this time after it was granted",
     {"1m", "Use it for work that is shorter than the difference between the clocks of two clusters."}},
    {"max-run", &O::max_run, "0", "", kYear, kRun, kYes, "longest run; then TERM, `kill-after`, KILL, exit 124; 0: no limit",
     {"30m", ""}},
    {"kill-after", &O::kill_after, "10s", "", "0 to 1h", kPolicy, kYes, "time between TERM and KILL; a short ttl leaves less",
     {"20s", ""}},
    {"leftovers", &O::leftovers, "end", "", "end, wait, leave", kPolicy, kYes, "background processes of the command: `end` them, `wait` for them, `leave` them (unsafe)",
     {"wait", ""}},
    {"untracked", &O::untracked, "refuse", "", "refuse, allow", kPolicy, kNo, "if the processes of a leased run cannot be found (no /proc): `refuse` (exit 78), `allow` (unsafe)"},
    {"guardian", &O::guardian, "auto", "", "auto, off", kPolicy, kYes, "second process that kills the command when cronlatch is killed or stopped: `auto` (where needed), `off`",
     {"auto", "Needed where cronlatch is not the first process of the container: with `shareProcessNamespace`, `hostPID`, or an init program."}},
    {"warn-after", &O::warn_after, "0", "", kYear, kRun, kYes, "logs one warning and increases a counter if the command still runs; 0: off",
     {"20m", ""}},
    {"on-lost", &O::on_lost, "kill", "", "kill, term, warn", kPolicy, kYes, "if the lease is lost: `kill`; `term` and `warn` are unsafe",
     {"kill", ""}},
    {"on-store-down", &O::on_store_down, "fail", "", "fail, wait, run", kPolicy, kYes, "if the store is unavailable at the start: `fail` (exit 69), `wait`, `run` without a lock (unsafe)",
     {"wait", "`run` is logged as a warning and counted."}},
    {"once-per", &O::once_per, "", "none", kText, kRun, kNo, "identity of this run; a finished identity is skipped for as long as the store keeps it"},
    {"once-ttl", &O::once_ttl, "35d", "", "1m to 365d", kPolicy, kYes, "how long the store keeps a finished identity, at most the newest 128 of each job",
     {"7d", "For `cronlatch.dev/once-per-schedule`, an identity is a scheduled time."}},
    {"grace-period", &O::grace_period, "30s", "", "1s to 1d", kRun, kNo, "maximum time from TERM to the end of the run; limits the retries to record a finished identity"},
    {"attempt-group", &O::attempt_group, "", "none", kText, kRun, kNo, "runs of a group that was granted the lock do not skip: they wait, at most 2 ttl, then exit 75"},
    {"holder", &O::holder, "", "host:pid:boot-id", kText, kRun, kNo, "name of the holder in messages and statistics; it has no effect on the lock"},
    {"credentials-dir", &O::credentials_dir, "", "none", "a directory", kStore, kNo, "files `[sentinel-]username`, `[sentinel-]password`, `ca.crt`, `tls.crt`, `tls.key`; existing files are used"},
    {"redis-username", &O::redis_username, "", "none", kText, kStore, kYes, "user name for the store"},
    {"password-file", &O::password_file, "", "none", kPath, kStore, kNo, "file with the password; takes precedence over `CRONLATCH_PASSWORD`"},
    {"sentinel-username", &O::sentinel_username, "", "none", kText, kStore, kYes, "user name for the Sentinels of a `redis+sentinel://` store"},
    {"sentinel-password-file", &O::sentinel_password_file, "", "none", kPath, kStore, kNo, "file with the password for the Sentinels"},
    {"tls-ca", &O::tls_ca, "", "the system's CAs", kPath, kStore, kNo, "certificates of the trusted authorities (PEM)"},
    {"tls-cert", &O::tls_cert, "", "none", kPath, kStore, kNo, "client certificate (PEM); requires `tls-key`"},
    {"tls-key", &O::tls_key, "", "none", kPath, kStore, kNo, "key of the client certificate (PEM)"},
    {"tls-server-name", &O::tls_server_name, "", "host of the URL", kText, kStore, kYes, "name that the store's certificate must contain"},
    {"tls-skip-verify", &O::tls_skip_verify, "false", "", "true, false", kStore, kYes, "accept any certificate (unsafe; logged as a warning at every start)"},
    {"connect-timeout", &O::connect_timeout, "5s", "", "100ms to 1m", kStore, kYes, "limit for a connection to the store: names, TCP, TLS, login"},
    {"op-timeout", &O::op_timeout, "", "ttl/10, at most 3s", "50ms to 1m", kStore, kYes, "limit for one request to the store"},
    {"max-ttl", &O::max_ttl, "10m", "", "5s to 1h", kStore, kYes, "with `strict` or a quorum: longest `ttl` of any run, and the time without grants after lost data"},
    {"key-prefix", &O::key_prefix, "cronlatch:", "", "1 to 100 bytes, no blanks, no braces", kStore, kYes, "prefix of every key in Redis; separates environments (test and production)", kNoAnnotation, check_key_prefix},
    {"strict", &O::strict, "false", "", "true, false", kStore, kYes, "no double grant across a failover: grants need `min-replicas`, and with Redis pause for `max-ttl` after it"},
    {"min-replicas", &O::min_replicas, "0", "", "0 to 32", kStore, kYes, "with `strict`: replicas that acknowledge each grant and renewal; with Sentinels all; PostgreSQL: at least 1"},
    {"exit-skipped", &O::exit_skipped, "0", "", "0 to 255", kPolicy, kNo, "exit code of a skipped run"},
    {"outcome-file", &O::outcome_file, "", "none", kPath, kRun, kNo, "file for the outcome, one line of JSON"},
    {"metrics-file", &O::metrics_file, "", "none", kPath, kRun, kNo, "file for Prometheus text that node_exporter's textfile collector reads"},
    {"metrics-push", &O::metrics_push, "", "none", "a URL", kRun, kNo, "Pushgateway for the metrics of the run: `http://host:9091`, or `https://...` with the `tls-...` options", kNoAnnotation, check_push_url},
    {"log-format", &O::log_format, "text", "", "text, json, logfmt", kReporting, kYes, "format of the log lines on stderr"},
    {"log-level", &O::log_level, "info", "", "error, warn, info, debug", kReporting, kYes, "lowest level that is logged"},
    {"config", &O::config, "", "`/etc/cronlatch.yaml` if it exists", kPath, kFlagOnly, kNo, "file of options (YAML); a flag or `CRONLATCH_CONFIG`"},
    {"isolated", &O::isolated, "false", "", "true, false", kFlagOnly, kNo, "the environment and files set no options; flag only"},
    {"command-by-arch", &O::command_by_arch, "", "none", "a JSON object of arrays", kFlagOnly, kNo, "first words of the command for each architecture, as in `{\"amd64\": [\"/app\"]}`; the words after `--` follow"},
};
// clang-format on

// The only option of Scope::flag_only that has a variable: it names the file, so that the file
// cannot contain it.
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
  // At most one difference for each three letters is a typing error.
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
  return option.annotatable() ? "cronlatch.dev/" + std::string(option.key) : "";
}

// A test shows that every default is accepted.
Options::Options() {
  for (const Option& option : kOptions)
    if (!option.fallback.empty()) (void)apply_text(*this, option, option.fallback).ok();
}

}  // namespace cronlatch
