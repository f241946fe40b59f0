// SPDX-License-Identifier: Apache-2.0
#include "programs/cronlock.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "programs/shell_assignments.h"

namespace cronlatch {
namespace {

constexpr CronlockFlavor kCronlock = {.program = "cronlock",
                                      .format = KeyFormat::cronlock,
                                      .key_end = "\n",
                                      .is_backoff_growing = true,
                                      .has_user_in_auth = true,
                                      .is_empty_text_a_value = false};
constexpr std::string_view kConfigVariable = "CRONLOCK_CONFIG";
constexpr std::string_view kConfigName = "/cronlock.conf";

Error in_file(Error error) {
  error.message = "cronlock: " + error.message;
  return error;
}

struct Config {
  std::string path;  // "" without one
  std::string text;
};

// cronlock reads the file beside the target of a link. A link in the place of the script must not
// hide the file that was beside the script: without it, the run would use another server.
std::vector<std::string> default_configs(const ProgramInput& input) {
  std::vector<std::string> paths;
  for (const std::string& directory :
       {input.program_directory, input.link_directory, std::string("/etc")})
    paths.push_back(directory + std::string(kConfigName));
  return paths;
}

// The file that CRONLOCK_CONFIG names, else the first that exists.
Result<Config> find_config(const ProgramInput& input, const std::string& named) {
  const std::vector<std::string> paths =
      !named.empty() ? std::vector<std::string>{named} : default_configs(input);
  for (const std::string& path : paths) {
    if (named.empty() && path == kConfigName) continue;
    ProgramFile file = input.read(path);
    if (file.error == 0) return Config{path, std::move(file.text)};
    if (!named.empty() || (file.error != ENOENT && file.error != ENOTDIR))
      return Error{Code::config,
                   "cronlock: cannot read " + quoted(path) + ": " + std::strerror(file.error),
                   "check the path, its owner and its mode"};
  }
  return Config{};
}

Status apply_environment(CronlockSettings& settings, const ProgramInput& input,
                         std::string& config) {
  for (const std::string& entry : input.environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view name = std::string_view(entry).substr(0, equals);
    if (name == kConfigVariable) config = entry.substr(equals + 1);
    const Status set =
        set_cronlock_variable(settings, kCronlock, name, entry.substr(equals + 1), "");
    if (!set) return set;
  }
  return Done{};
}

// An empty value in the file unsets the variable of the environment, as in a shell.
Status apply_config(CronlockSettings& settings, const Config& config) {
  const auto assignments = parse_shell_assignments(config.path, config.text, kCronlockAuth);
  if (!assignments) return in_file(assignments.error());
  for (const ShellAssignment& one : *assignments) {
    if (!is_cronlock_variable(kCronlock, one.name))
      return Error{Code::config,
                   "cronlock: " + one.where + ": " + one.name + " is not a variable of cronlock",
                   "remove the line; set other variables in the crontab"};
    if (one.value.empty()) reset_cronlock_variable(settings, kCronlock, one.name);
    const Status set =
        set_cronlock_variable(settings, kCronlock, one.name, one.value, one.where + ": ");
    if (!set) return set;
    if (one.name == kCronlockAuth) settings.auth_file = config.path;
  }
  return Done{};
}

}  // namespace

Result<ParsedProgram> parse_cronlock(const ProgramInput& input) {
  CronlockWords words = split_cronlock_words(input.arguments);
  if (words.first == "--help") return ParsedProgram(ProgramText{std::string(kCronlockHelp)});
  CronlockSettings settings;
  std::string named;
  if (const Status set = apply_environment(settings, input, named); !set) return set.error();
  const Result<Config> config = find_config(input, named);
  if (!config) return config.error();
  if (const Status set = apply_config(settings, *config); !set) return set.error();
  return cronlock_run(settings, kCronlock, std::move(words));
}

ProgramEnd end_cronlock(const NativeRun&, const Outcome& outcome) {
  return {cronlock_exit_code(outcome)};
}

}  // namespace cronlatch
