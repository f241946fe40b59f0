// SPDX-License-Identifier: Apache-2.0
// `cronlatch hold LOCK --for DURATION --reason TEXT`: `cronlatch run` with the command `cronlatch
// sleep`. The reason is the name of the holder, so that every skipped run logs it. Options that
// could end the hold early, or let it succeed without the lock, are fixed here, ignored or refused.
#include <algorithm>
#include <array>

#include "base/duration.h"
#include "base/text.h"
#include "cli/self.h"
#include "cli/subcommand.h"
#include "cli/subcommand_flags.h"
#include "core/lock_name.h"

namespace cronlatch {
namespace {

constexpr Millis kShortest = std::chrono::seconds(1), kLongest = std::chrono::hours(24 * 30);

// Flags of `run` that a hold sets itself, or that no hold has.
constexpr std::array<std::string_view, 6> kOwnFlags = {
    "lock", "holder", "max-run", "once-per", "attempt-group", "command-by-arch"};

// Settings in the environment and in a file without an effect. No value of a flag would undo them:
// an identity that is done would skip the hold, and a group that was granted would wait. A hold is
// never skipped, so that it needs no program of skip-command.
constexpr std::array<std::string_view, 3> kIgnored = {"once-per", "attempt-group", "skip-command"};

// A setting in the environment or in a file must not change these. With more slots, other runs
// would hold the lock beside this one; with on-lost=warn, a lost lease would be a success.
struct Fixed {
  std::string_view key, value;
  std::string_view other;  // another value that is useful, as a flag; empty: none
};
constexpr std::array kFixed = {
    Fixed{"on-busy", "fail", "wait"}, Fixed{"on-store-down", "fail", "wait"},
    Fixed{"warn-after", "0", ""},     Fixed{"min-hold", "0", ""},
    Fixed{"leftovers", "end", ""},    Fixed{"untracked", "refuse", "allow"},
    Fixed{"exit-skipped", "75", ""},  Fixed{"slots", "1", ""},
    Fixed{"on-lost", "kill", ""}};

Error of_flag(std::string_view flag, const Error& error) {
  return {error.code, "hold: " + std::string(flag) + ": " + error.message, error.hint};
}

Result<std::string> length_of(const Flags& flags) {
  const auto given = flags.extras.find(kFor);
  if (given == flags.extras.end())
    return Error{Code::usage, "hold: the flag --for is missing", "write, for example, --for 2h"};
  const Result<Millis> length = parse_duration(given->second);
  if (!length) return of_flag(kFor, length.error());
  if (*length < kShortest || *length > kLongest)
    return Error{
        Code::usage, "hold: --for " + printable(given->second) + " is out of range",
        "write a duration from " + show_duration(kShortest) + " to " + show_duration(kLongest)};
  return given->second;
}

// The rules are those of `holder`.
Result<std::string> reason_of(const Flags& flags) {
  const auto given = flags.extras.find(kReason);
  const bool is_missing = given == flags.extras.end();
  if (is_missing || given->second.empty())
    return Error{Code::usage,
                 std::string("hold: the flag --reason is ") + (is_missing ? "missing" : "empty"),
                 "write, for example, --reason 'database maintenance'"};
  Options options;
  if (const Status valid = apply_text(options, *find_option("holder"), given->second); !valid)
    return of_flag(kReason, valid.error());
  return given->second;
}

// The flags of `run`.
Result<std::vector<std::string>> options_of(const Flags& flags) {
  std::vector<std::string> words;
  const auto given = [&](std::string_view key) {
    return std::ranges::find_if(flags.settings,
                                [&](const Setting& s) { return s.option->key == key; });
  };
  for (const std::string_view key : kOwnFlags)
    if (given(key) != flags.settings.end())
      return Error{Code::usage, "hold: --" + std::string(key) + " cannot be given",
                   "omit the flag: see cronlatch hold --help"};
  for (const Fixed& fixed : kFixed) {
    const auto flag = given(fixed.key);
    if (flag == flags.settings.end()) {
      words.push_back("--" + std::string(fixed.key) + "=" + std::string(fixed.value));
    } else if (flag->text != fixed.value && (fixed.other.empty() || flag->text != fixed.other)) {
      return Error{
          Code::usage,
          "hold: --" + std::string(fixed.key) + " cannot be " + quoted(printable(flag->text)),
          fixed.other.empty() ? "omit the flag"
                              : "only " + std::string(fixed.value) + " and " +
                                    std::string(fixed.other) + " keep the lock"};
    }
  }
  for (const Setting& setting : flags.settings)
    words.push_back(flag_of(*setting.option) + "=" + setting.text);
  return words;
}

}  // namespace

Result<CommandOutput> hold_command(const Invocation& invocation) {
  const Result<Flags> flags = parse_flags(invocation.arguments, Operands::name, kHoldFlags);
  if (!flags) return flags.error();
  const std::string& lock = flags->operands.front();
  if (const Status named = check_lock_name(lock); !named) return named.error();
  const Result<std::string> length = length_of(*flags);
  if (!length) return length.error();
  const Result<std::string> reason = reason_of(*flags);
  if (!reason) return reason.error();
  Result<std::vector<std::string>> words = options_of(*flags);
  if (!words) return words.error();
  const Result<std::string> program = own_path();
  if (!program) return program.error();
  words->insert(words->end(), {"--lock=" + lock, "--holder=" + *reason, "--max-run=0", "--",
                               *program, "sleep", *length});
  return run_command({std::move(words).value(), invocation.environment, invocation.clock,
                      invocation.password, kIgnored});
}

}  // namespace cronlatch
