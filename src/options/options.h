// SPDX-License-Identifier: Apache-2.0
// THE option table. One row per option; the flag, the environment variable, the YAML key, the
// annotation, --help, the reference page and the chart's schema are derived from the row's key and
// rendered from the row. Nobody writes a default twice.
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

namespace cronlatch {

// A leased run whose descendants cannot be found (no /proc of its PID namespace) and that is not
// the first process of one.
enum class Untracked { refuse, allow };

// What the user decided, defaults filled in. One member per row of the table.
struct Options {
  std::string lock;  // empty: derived from the command (config/default_lock.h)
  std::string job;
  std::string store;  // empty: the file store's directory of this user
  Millis ttl{120'000};
  std::optional<Millis> renew_every;
  OnBusy on_busy = OnBusy::skip;
  std::vector<std::string> skip_command;
  Millis wait_timeout{0};
  Millis min_hold{0};
  Millis max_run{0};
  Millis kill_after{10'000};
  Leftovers leftovers = Leftovers::end;
  Millis warn_after{0};
  Untracked untracked = Untracked::refuse;
  OnLost on_lost = OnLost::kill;
  OnStoreDown on_store_down = OnStoreDown::fail;
  std::string once_per;
  Millis once_ttl{};
  Millis grace_period{30'000};
  std::string attempt_group;
  std::string holder;
  std::string credentials_dir;
  std::string redis_username;
  std::string password_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  bool tls_skip_verify = false;
  Millis connect_timeout{5'000};
  std::optional<Millis> op_timeout;
  std::string key_prefix;
  int exit_skipped = 0;
  std::string outcome_file;
  std::string metrics_file;
  std::string metrics_push;
  LogFormat log_format = LogFormat::text;
  Level log_level = Level::info;
  std::string config;
  bool isolated = false;
  StringLists command_by_arch;
};

using Field =
    std::variant<std::string Options::*, Millis Options::*, std::optional<Millis> Options::*,
                 bool Options::*, int Options::*, std::vector<std::string> Options::*,
                 StringLists Options::*, OnBusy Options::*, OnLost Options::*,
                 OnStoreDown Options::*, Leftovers Options::*, Untracked Options::*,
                 LogFormat Options::*, Level Options::*>;

enum class Scope {
  // This one run: its variable is removed from the command's environment.
  run,
  // How a run behaves: stays, for what a nested `cronlatch run` does not say itself.
  policy,
  // The store: stays, so that a nested `cronlatch run` uses the same one.
  store,
  // How we speak: stays.
  reporting,
  // Never in a file: --config (which has CRONLATCH_CONFIG beside the flag) and --isolated.
  flag_only,
};

struct Option {
  // "on-busy" gives --on-busy, CRONLATCH_ON_BUSY, on-busy: and cronlatch.dev/on-busy.
  std::string_view key;
  Field field;
  // The default as text, parsed like any other value; "" where `fallback_note` says more.
  std::string_view fallback;
  std::string_view fallback_note;
  // "5s to 1h", "skip, wait, fail": shown to people, and enforced where it is a range.
  std::string_view limits;
  Scope scope;
  bool annotatable;       // may be an annotation of a CronJob
  std::string_view help;  // one line
  // What a range cannot say about a text.
  Status (*check)(std::string_view text) = nullptr;
};

std::span<const Option> option_table();
const Option* find_option(std::string_view key);
// The key that is nearest to `wrong` (edit distance), or "" when none is near.
std::string_view nearest_option(std::string_view wrong);

std::string flag_of(const Option& option);        // --on-busy
std::string variable_of(const Option& option);    // CRONLATCH_ON_BUSY; "" when it has none
std::string annotation_of(const Option& option);  // cronlatch.dev/on-busy; "" when it has none

// Every default of the table applied.
Options default_options();
// Parses `text` into the option's field. The error's message names the key, what is wrong, and what
// is allowed.
Status set_option(Options& options, const Option& option, std::string_view text);
// The same, but the message does not name the key: for a caller who says where the text came from.
// An empty text is refused.
Status apply_text(Options& options, const Option& option, std::string_view text);
// The value as text that set_option would take back; "" where it is not set.
std::string show_option(const Options& options, const Option& option);

// What only a look at several options together can tell (timings, a certificate without its key).
// Called by config::load after everything has been set.
Status validate(const Options& options);

// ---- the parsers, for other tables ----
// Without a password and without blanks. parse_store_url (store/url.h) checks the rest.
Status check_store_url(std::string_view url);
Status check_key_prefix(std::string_view prefix);

}  // namespace cronlatch
