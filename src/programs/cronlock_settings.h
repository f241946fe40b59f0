// SPDX-License-Identifier: Apache-2.0
// The settings in the CRONLOCK_ variables of cronlock and golock: one table. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/shared_key.h"

namespace cronlatch {

inline constexpr std::string_view kCronlockAuth = "CRONLOCK_AUTH";

struct CronlockSettings {
  std::string host = "localhost";
  std::int64_t port = 6379;
  std::int64_t db = 0;
  std::string auth;
  std::string auth_file;  // which sets `auth`; "" for the environment
  std::int64_t redis_timeout = 30;
  std::int64_t grace = 40;
  std::int64_t release = 86'400;
  std::int64_t attempts = 5;
  std::int64_t backoff = 5;
  std::int64_t timeout = 0;
  std::optional<std::string> key;
  std::string prefix = "cronlock.";
  bool verbose = false;
  bool reset = false;
  // cronlock only
  bool ntpdate = false;
  bool use_sentinel = false;
  std::string sentinel_master = "mymaster";
  std::string sentinel_host = "localhost";
  std::int64_t sentinel_port = 26'379;
  // golock only
  bool tls = false;
  bool tls_skip_verify = false;
  bool show_key = false;
};

// What the two programs do in different ways.
struct CronlockFlavor {
  std::string_view program;
  KeyFormat format;
  std::string_view key_end;    // follows the command in the text of the key
  bool is_backoff_growing;     // each pause is `backoff` longer than the one before
  bool has_user_in_auth;       // "USER PASSWORD"
  bool is_empty_text_a_value;  // false: an empty variable is not set
};

// Sets the variable if the program has it; any other is ignored. Code::config.
Status set_cronlock_variable(CronlockSettings& settings, const CronlockFlavor& flavor,
                             std::string_view name, const std::string& value,
                             const std::string& where);
// To its default.
void reset_cronlock_variable(CronlockSettings& settings, const CronlockFlavor& flavor,
                             std::string_view name);
// True for a variable that this program has.
bool is_cronlock_variable(const CronlockFlavor& flavor, std::string_view name);

}  // namespace cronlatch
