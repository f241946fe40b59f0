// SPDX-License-Identifier: Apache-2.0
#include "programs/cronlock_settings.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace cronlatch {
namespace {

using S = CronlockSettings;

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kYear = 365 * kDay;

// "yes" and nothing else is true.
struct ExactYes {
  bool S::*field;
};
// As Go's ParseBool.
struct GoBool {
  bool S::*field;
};
struct Number {
  std::int64_t S::*field;
  std::int64_t from, to;
};
using Field =
    std::variant<std::string S::*, std::optional<std::string> S::*, ExactYes, GoBool, Number>;

enum class Of { both, cronlock, golock };
struct Variable {
  std::string_view name;
  Of program;
  Field field;
};

constexpr std::array kVariables = {
    Variable{"CRONLOCK_HOST", Of::both, &S::host},
    Variable{"CRONLOCK_PORT", Of::both, Number{&S::port, 1, 65'535}},
    Variable{"CRONLOCK_DB", Of::both, Number{&S::db, 0, 1'000'000}},
    Variable{kCronlockAuth, Of::both, &S::auth},
    Variable{"CRONLOCK_REDIS_TIMEOUT", Of::both, Number{&S::redis_timeout, 1, kYear}},
    Variable{"CRONLOCK_GRACE", Of::both, Number{&S::grace, 0, 7 * kDay}},
    Variable{"CRONLOCK_RELEASE", Of::both, Number{&S::release, 1, 100 * kYear}},
    Variable{"CRONLOCK_RECONNECT_ATTEMPTS", Of::both, Number{&S::attempts, 0, 1'000}},
    Variable{"CRONLOCK_RECONNECT_BACKOFF", Of::both, Number{&S::backoff, 0, kDay}},
    Variable{"CRONLOCK_TIMEOUT", Of::both, Number{&S::timeout, 0, kYear}},
    Variable{"CRONLOCK_KEY", Of::both, &S::key},
    Variable{"CRONLOCK_PREFIX", Of::both, &S::prefix},
    Variable{"CRONLOCK_VERBOSE", Of::both, ExactYes{&S::verbose}},
    Variable{"CRONLOCK_RESET", Of::both, ExactYes{&S::reset}},
    Variable{"CRONLOCK_NTPDATE", Of::cronlock, ExactYes{&S::ntpdate}},
    Variable{"CRONLOCK_USE_SENTINEL", Of::cronlock, ExactYes{&S::use_sentinel}},
    Variable{"CRONLOCK_SENTINEL_MASTER", Of::cronlock, &S::sentinel_master},
    Variable{"CRONLOCK_SENTINEL_HOST", Of::cronlock, &S::sentinel_host},
    Variable{"CRONLOCK_SENTINEL_PORT", Of::cronlock, Number{&S::sentinel_port, 1, 65'535}},
    Variable{"CRONLOCK_TLS", Of::golock, GoBool{&S::tls}},
    Variable{"CRONLOCK_TLS_SKIP_VERIFY", Of::golock, GoBool{&S::tls_skip_verify}},
    Variable{"CRONLOCK_SHOW_KEY", Of::golock, GoBool{&S::show_key}}};

const Variable* find_variable(const CronlockFlavor& flavor, std::string_view name) {
  const Of program = flavor.format == KeyFormat::golock ? Of::golock : Of::cronlock;
  const auto at = std::ranges::find_if(kVariables, [&](const Variable& variable) {
    return variable.name == name && (variable.program == Of::both || variable.program == program);
  });
  return at == kVariables.end() ? nullptr : &*at;
}

std::optional<bool> go_bool(std::string_view text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == yes) return true;
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == no) return false;
  return std::nullopt;
}

std::optional<std::int64_t> number(const Number& field, std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < field.from || value > field.to)
    return std::nullopt;
  return value;
}

Error usage(const CronlockFlavor& flavor, std::string message, std::string hint) {
  return {Code::usage, std::string(flavor.program) + ": " + std::move(message), std::move(hint)};
}

}  // namespace

bool is_cronlock_variable(const CronlockFlavor& flavor, std::string_view name) {
  return find_variable(flavor, name) != nullptr;
}

void reset_cronlock_variable(S& settings, const CronlockFlavor& flavor, std::string_view name) {
  const Variable* const variable = find_variable(flavor, name);
  if (variable == nullptr) return;
  const S defaults;
  const auto reset = [&](auto field) { settings.*field = defaults.*field; };
  if (const auto* text = std::get_if<std::string S::*>(&variable->field)) reset(*text);
  if (const auto* key = std::get_if<std::optional<std::string> S::*>(&variable->field)) reset(*key);
  if (const auto* yes = std::get_if<ExactYes>(&variable->field)) reset(yes->field);
  if (const auto* boolean = std::get_if<GoBool>(&variable->field)) reset(boolean->field);
  if (const auto* row = std::get_if<Number>(&variable->field)) reset(row->field);
}

Status set_cronlock_variable(S& settings, const CronlockFlavor& flavor, std::string_view name,
                             const std::string& value, const std::string& where) {
  const Variable* const variable = find_variable(flavor, name);
  if (variable == nullptr) return Done{};
  if (value.empty() && !flavor.is_empty_text_a_value) return Done{};
  const auto wrong = [&](const std::string& allowed) {
    return usage(flavor, where + std::string(name) + ": " + quoted(value) + " is not valid",
                 "allowed is " + allowed);
  };
  if (const auto* text = std::get_if<std::string S::*>(&variable->field)) {
    settings.*(*text) = value;
  } else if (const auto* key = std::get_if<std::optional<std::string> S::*>(&variable->field)) {
    settings.*(*key) = value;
  } else if (const auto* yes = std::get_if<ExactYes>(&variable->field)) {
    settings.*(yes->field) = value == "yes";
  } else if (value.empty()) {
    return Done{};
  } else if (const auto* boolean = std::get_if<GoBool>(&variable->field)) {
    const auto parsed = go_bool(value);
    if (!parsed) return wrong("1, true, 0 or false");
    settings.*(boolean->field) = *parsed;
  } else {
    const Number& row = std::get<Number>(variable->field);
    const auto parsed = number(row, value);
    if (!parsed) return wrong(std::to_string(row.from) + " to " + std::to_string(row.to));
    settings.*(row.field) = *parsed;
  }
  return Done{};
}

}  // namespace cronlatch
