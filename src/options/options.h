// SPDX-License-Identifier: Apache-2.0
// The option table: one row for each option. The flag, the environment variable, the YAML key, the
// annotation, the default, the limits, --help, docs/reference/options.md, the table of annotations
// in docs/kubernetes.md and the option values of the chart's schema are derived from the row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/duration.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/text.h"
#include "core/lease.h"
#include "core/run.h"
#include "core/shared_key.h"
#include "core/strict.h"

namespace cronlatch {

// For a leased run whose descendants cannot be found: there is no /proc of its PID namespace, and
// the run is not the first process of that namespace.
enum class Untracked { refuse, allow };

// A second process for a leased run that is not the first process of its PID namespace: it kills
// the command when the run's process is killed, or stopped until the end of the lease.
enum class GuardianMode { automatic, off };

// The value of every option; one member for each row of the table. The constructor applies the
// defaults of the rows, so that no other place contains a default.
struct Options {
  Options();

  std::string lock;       // empty: derived from the command (config/default_lock.h)
  std::string lock_file;  // another program's lock file, which is then the lock (core/lock_file.h)
  KeyFormat key_format{};
  std::string foreign_key;  // another program's key, which is then the lock (core/shared_key.h)
  std::string job;
  std::string store;  // empty: the file store's directory of this user
  Millis ttl{};
  std::optional<Millis> renew_every;
  OnBusy on_busy{};
  std::vector<std::string> skip_command;
  Millis wait_timeout{};
  int slots{};
  Millis min_hold{};
  Millis max_run{};
  Millis kill_after{};
  Leftovers leftovers{};
  Millis warn_after{};
  Untracked untracked{};
  GuardianMode guardian{};
  OnLost on_lost{};
  OnStoreDown on_store_down{};
  std::string once_per;
  Millis once_ttl{};
  Millis grace_period{};
  std::string attempt_group;
  std::string holder;
  std::string credentials_dir;
  std::string redis_username;
  std::string password_file;
  std::string sentinel_username;
  std::string sentinel_password_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  bool tls_skip_verify{};
  Millis connect_timeout{};
  std::optional<Millis> op_timeout;
  std::string key_prefix;
  bool strict{};
  int min_replicas{};
  Millis max_ttl{};
  int exit_skipped{};
  std::string outcome_file;
  std::string metrics_file;
  std::string metrics_push;
  LogFormat log_format{};
  Level log_level{};
  std::string config;
  bool isolated{};
  StringLists command_by_arch;
};

using Field = std::variant<
    std::string Options::*, Millis Options::*, std::optional<Millis> Options::*, bool Options::*,
    int Options::*, std::vector<std::string> Options::*, StringLists Options::*, OnBusy Options::*,
    OnLost Options::*, OnStoreDown Options::*, Leftovers Options::*, Untracked Options::*,
    GuardianMode Options::*, KeyFormat Options::*, LogFormat Options::*, Level Options::*>;

enum class Scope {
  // This run only: its variable is removed from the command's environment.
  run,
  // The behavior of a run: its variable stays and is the default of a nested `cronlatch run`.
  policy,
  // The store: its variable stays, so that a nested `cronlatch run` uses the same store.
  store,
  // The log: its variable stays.
  reporting,
  // Never in a file: --config (which has the variable CRONLATCH_CONFIG as well) and --isolated.
  flag_only,
};

// An option without an example is no annotation.
struct AnnotationText {
  std::string_view example;  // a value that is accepted, for messages and docs/kubernetes.md
  std::string_view note;     // sentences that follow the help in docs/kubernetes.md
};

struct Option {
  // "on-busy" gives --on-busy, CRONLATCH_ON_BUSY, on-busy: and cronlatch.dev/on-busy.
  std::string_view key;
  Field field;
  // The default as text, parsed like any other value; "" where only `fallback_note` describes it.
  std::string_view fallback;
  std::string_view fallback_note;
  // "5s to 1h", "skip, wait, fail": in messages and docs; a range is also enforced.
  std::string_view limits;
  Scope scope;
  // The operator's setting `defaults` and the chart's value `defaults` may contain the option.
  bool cluster_default;
  std::string_view help;           // one line
  AnnotationText annotation = {};  // of a CronJob
  // The rules for a text that is not checked by a range.
  Status (*check)(std::string_view text) = nullptr;

  bool annotatable() const { return !annotation.example.empty(); }
};

std::span<const Option> option_table();
const Option* find_option(std::string_view key);
// The key that is nearest to `wrong` (edit distance), or "" when none is near.
std::string_view nearest_option(std::string_view wrong);

std::string flag_of(const Option& option);        // --on-busy
std::string variable_of(const Option& option);    // CRONLATCH_ON_BUSY; "" when it has none
std::string annotation_of(const Option& option);  // cronlatch.dev/on-busy; "" when it has none

// Parses `text` into the option's field. The error's message contains the key and the text; its
// hint contains the allowed values.
Status set_option(Options& options, const Option& option, std::string_view text);
// The same, but the message does not contain the key: for a caller that adds the source of the
// text. An empty text is refused.
Status apply_text(Options& options, const Option& option, std::string_view text);
// The value as text that set_option would take back; "" where it is not set.
std::string show_option(const Options& options, const Option& option);

// Checks combinations of options (timings, a certificate without its key). config::load calls it
// after it has set all options.
Status validate(const Options& options);

// No value without `strict`.
std::optional<StrictSettings> strict_settings(const Options& options);

// ---- for other tables ----
// "1s to 5m": false if the limits are no range of durations, or of numbers.
bool is_in_range(std::string_view limits, Millis value);
bool is_in_range(std::string_view limits, std::size_t value);
// A valid URL (core/store_url.h) without a password or a blank.
Status check_store_url(std::string_view url);
Status check_key_prefix(std::string_view prefix);

}  // namespace cronlatch
