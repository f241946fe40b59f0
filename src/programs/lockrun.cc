// SPDX-License-Identifier: Apache-2.0
#include "programs/lockrun.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::int64_t kDefaultSleep = 10;
constexpr std::int64_t kMaxSeconds = 365 * 86'400;  // the limit of wait-timeout and warn-after

struct Lockrun {
  std::string lockfile;
  std::string store;
  std::int64_t sleep = kDefaultSleep;
  std::int64_t retries = 0;
  std::int64_t maxtime = 0;
  bool wait = false;
  bool quiet = false;
  bool verbose = false;
  bool version = false;
  bool help = false;
  bool explain = false;
};

using Field = std::variant<std::string Lockrun::*, std::int64_t Lockrun::*, bool Lockrun::*>;
struct LockrunFlag {
  std::string_view name;
  std::string_view letter;  // "" without one
  Field field;
};
constexpr std::array kFlags = {LockrunFlag{"--lockfile", "-L", &Lockrun::lockfile},
                               LockrunFlag{"--wait", "-W", &Lockrun::wait},
                               LockrunFlag{"--sleep", "-S", &Lockrun::sleep},
                               LockrunFlag{"--retries", "-R", &Lockrun::retries},
                               LockrunFlag{"--maxtime", "-T", &Lockrun::maxtime},
                               LockrunFlag{"--quiet", "-q", &Lockrun::quiet},
                               LockrunFlag{"--idempotent", "-I", &Lockrun::quiet},
                               LockrunFlag{"--verbose", "-V", &Lockrun::verbose},
                               LockrunFlag{"--version", "", &Lockrun::version},
                               LockrunFlag{"--help", "", &Lockrun::help},
                               LockrunFlag{"--store", "", &Lockrun::store},
                               LockrunFlag{"--explain", "", &Lockrun::explain}};

Error usage(std::string message, std::string hint) {
  return {Code::usage, "lockrun: " + std::move(message), std::move(hint)};
}

const LockrunFlag* find_flag(std::string_view name) {
  const auto at = std::ranges::find_if(kFlags, [&](const LockrunFlag& flag) {
    return flag.name == name || (!flag.letter.empty() && flag.letter == name);
  });
  return at == kFlags.end() ? nullptr : &*at;
}

Result<std::int64_t> parse_number(const LockrunFlag& flag, std::string_view text) {
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number > kMaxSeconds)
    return usage(std::string(flag.name) + ": " + quoted(text) + " is not a number",
                 "0 to " + std::to_string(kMaxSeconds));
  return number;
}

Status set_flag(Lockrun& lockrun, const LockrunFlag& flag, const std::string& value) {
  if (const auto* text = std::get_if<std::string Lockrun::*>(&flag.field)) {
    if (value.empty())
      return usage(std::string(flag.name) + " is empty", "see: cronlatch help lockrun");
    lockrun.*(*text) = value;
  } else if (const auto* number = std::get_if<std::int64_t Lockrun::*>(&flag.field)) {
    const Result<std::int64_t> parsed = parse_number(flag, value);
    if (!parsed) return parsed.error();
    lockrun.*(*number) = *parsed;
  } else {
    lockrun.*std::get<bool Lockrun::*>(flag.field) = true;
  }
  return Done{};
}

// Parses the flag at `at`, and moves `at` to its last word.
Status parse_flag(Lockrun& lockrun, std::span<const std::string> words, std::size_t& at) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  const LockrunFlag* const flag = find_flag(std::string_view(word).substr(0, equals));
  if (flag == nullptr && !word.starts_with('-'))
    return usage("unexpected word " + quoted(word), "put -- before the command");
  if (flag == nullptr)
    return usage("unknown option " + quoted(word), "see: cronlatch help lockrun");
  const bool is_switch = std::holds_alternative<bool Lockrun::*>(flag->field);
  if (is_switch && equals != std::string::npos)
    return usage(std::string(flag->name) + " has no value",
                 "remove " + quoted(word.substr(equals)));
  if (is_switch) return set_flag(lockrun, *flag, "");
  if (equals != std::string::npos) return set_flag(lockrun, *flag, word.substr(equals + 1));
  if (at + 1 == words.size())
    return usage(std::string(flag->name) + " needs a value", "see: cronlatch help lockrun");
  return set_flag(lockrun, *flag, words[++at]);
}

std::string absolute(std::string_view path, const std::string& directory) {
  if (path.starts_with('/')) return std::string(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  return (directory == "/" ? "" : directory) + "/" + std::string(path);
}

std::string seconds(std::string_view flag, std::int64_t number) {
  return std::string(flag) + std::to_string(number) + "s";
}

std::vector<std::string> native_options(const Lockrun& lockrun, const ProgramInput& input) {
  // lockrun tries `retries` times, and sleeps between two tries.
  const std::int64_t limit =
      lockrun.retries == 0 ? 0 : std::min(kMaxSeconds, (lockrun.retries - 1) * lockrun.sleep);
  const bool waits = lockrun.wait && (lockrun.retries == 0 || limit > 0);
  std::vector<std::string> options = {
      "--isolated", "--store=" + (lockrun.store.empty() ? input.default_store : lockrun.store),
      "--lock-file=" + absolute(lockrun.lockfile, input.directory)};
  if (waits) options.emplace_back("--on-busy=wait");
  if (waits && limit > 0) options.push_back(seconds("--wait-timeout=", limit));
  if (!lockrun.quiet) options.emplace_back("--exit-skipped=1");
  if (lockrun.maxtime > 0) options.push_back(seconds("--warn-after=", lockrun.maxtime));
  // lockrun releases the lock when the command exits, and lets its background processes continue.
  options.emplace_back("--leftovers=leave");
  // lockrun writes nothing about a run that ended well.
  options.emplace_back(lockrun.verbose ? "--log-level=info" : "--log-level=warn");
  return options;
}

}  // namespace

Result<ParsedProgram> parse_lockrun(const ProgramInput& input) {
  Lockrun lockrun;
  std::size_t at = 0;
  for (; at < input.arguments.size() && input.arguments[at] != "--"; ++at)
    if (const Status parsed = parse_flag(lockrun, input.arguments, at); !parsed)
      return parsed.error();
  if (lockrun.help) return ParsedProgram(ProgramText{std::string(kLockrunHelp)});
  if (lockrun.version)
    return ParsedProgram(ProgramText{"lockrun (cronlatch " CRONLATCH_VERSION ")\n"});
  if (lockrun.lockfile.empty()) return usage("no lock file", "add --lockfile=FILE");
  if (input.directory.empty() && !lockrun.lockfile.starts_with('/'))
    return usage("the current directory is not accessible", "write an absolute path in --lockfile");
  NativeRun run;
  if (at < input.arguments.size())
    run.command.assign(input.arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                       input.arguments.end());
  if (run.command.empty()) return usage("no command", "add -- COMMAND [ARG...] at the end");
  run.options = native_options(lockrun, input);
  run.explain = lockrun.explain;
  run.quiet = lockrun.quiet;
  return ParsedProgram(std::move(run));
}

ProgramEnd end_lockrun(const NativeRun& run, const Outcome& outcome) {
  const std::string busy =
      run.quiet ? "" : "ERROR: cannot launch " + run.command.front() + " - run is locked\n";
  switch (outcome.kind) {
    case Kind::ran:
    case Kind::interrupted:
    case Kind::cannot_start:
    case Kind::lost:
    case Kind::timed_out:
      return {exit_code(outcome, 0)};
    case Kind::skipped:
    case Kind::busy:
      return {run.quiet ? 0 : kLockrunError, busy};
    case Kind::store_down:
    case Kind::refused:
    case Kind::usage:
      return {kLockrunError};
  }
  return {kLockrunError};
}

}  // namespace cronlatch
