// SPDX-License-Identifier: Apache-2.0
#include "programs/golock.h"

namespace cronlatch {
namespace {

constexpr CronlockFlavor kGolock = {.program = "golock",
                                    .format = KeyFormat::golock,
                                    .key_end = "",
                                    .is_backoff_growing = false,
                                    .has_user_in_auth = false,
                                    .is_empty_text_a_value = true};
constexpr int kCannotStart = 1;

}  // namespace

Result<ParsedProgram> parse_golock(const ProgramInput& input) {
  CronlockWords words = split_cronlock_words(input.arguments);
  if (words.first == "--help") return ParsedProgram(ProgramText{std::string(kGolockHelp)});
  CronlockSettings settings;
  for (const std::string& entry : input.environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const Status set = set_cronlock_variable(
        settings, kGolock, std::string_view(entry).substr(0, equals), entry.substr(equals + 1), "");
    if (!set) return set.error();
  }
  // An empty address of Go's net package is the local host.
  if (settings.host.empty()) settings.host = "localhost";
  return cronlock_run(settings, kGolock, std::move(words));
}

ProgramEnd end_golock(const NativeRun&, const Outcome& outcome) {
  if (outcome.kind == Kind::cannot_start) return {kCannotStart};
  return {cronlock_exit_code(outcome)};
}

}  // namespace cronlatch
