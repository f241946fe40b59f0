// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/metrics_file.h"
#include "cli/metrics_push.h"
#include "config/environment.h"
#include "core/store_schemes.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

// Metrics delay the exit code by no more than this.
constexpr Millis kLockStatsTimeout{1'000};
constexpr Millis kPushTimeout{2'000};
constexpr mode_t kOutcomeMode = 0644;

// The outcome is one short line: a file that does not accept it in this time has no reader.
constexpr Millis kOutcomeTimeout{1'000};

Error outcome_error(const std::string& path, int failed) {
  const std::string what = "cannot write the outcome file " + quoted(path) + ": ";
  if (failed == ENXIO)
    return {Code::system, what + "it is a FIFO that no process reads",
            "start its reader before the run ends, or name a file"};
  if (failed == EAGAIN)
    return {Code::system, what + "it accepted no data within " + show_duration(kOutcomeTimeout),
            "it is a FIFO whose reader does not read, or a stopped terminal; name a file"};
  return {Code::system, what + std::strerror(failed), file_hint(failed)};
}

// /dev/stderr, or the log that crontab appends standard output to.
bool is_standard_stream(int fd) {
  struct stat file {};
  struct stat stream {};
  return fstat(fd, &file) == 0 && std::ranges::any_of(std::array{1, 2}, [&](int standard) {
           return fstat(standard, &stream) == 0 && stream.st_dev == file.st_dev &&
                  stream.st_ino == file.st_ino;
         });
}

// In place: the termination log of a container is a bind-mounted file, which cannot be replaced.
// What others wrote to a log stays.
Status write_outcome_file(const std::string& path, std::string_view json) {
  const Fd fd(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kOutcomeMode));
  if (!fd) return outcome_error(path, errno);
  struct stat file {};
  if (is_standard_stream(fd.get()))
    fcntl(fd.get(), F_SETFL, O_APPEND | O_NONBLOCK);
  else if (fstat(fd.get(), &file) == 0 && S_ISREG(file.st_mode) && ftruncate(fd.get(), 0) != 0)
    return outcome_error(path, errno);
  const int failed = write_all(fd.get(), std::string(json) + '\n', kOutcomeTimeout);
  if (failed == 0) return Done{};
  return outcome_error(path, failed);
}

LogLine warning(const std::string& event, const Error& error) {
  return {Level::warn, event, error.message, {}, error.hint};
}

// The state of the run's lock; std::nullopt when the store does not return it.
std::optional<LockView> read_lock(const Outcome& outcome, LockStats* lock_stats,
                                  const Options& options, const Log& log, const Clock& clock) {
  if (lock_stats == nullptr) return std::nullopt;
  Result<LockView> seen = lock_stats->show(options.lock, clock.now() + kLockStatsTimeout);
  if (seen) return std::move(seen).value();
  // The log already contains why a run was refused, and that the store is unavailable.
  if (outcome.kind != Kind::refused && seen.error().code != Code::unreachable)
    log(warning("lock_stats",
                {seen.error().code, "the metrics lack the lock statistics: " + seen.error().message,
                 seen.error().hint}));
  return std::nullopt;
}

// Returns the run errors in the file as Prometheus text; they are this host's.
Result<std::string> update_metrics_file(const Outcome& outcome, const Options& options,
                                        const std::optional<LockView>& view) {
  const Result<std::string> old = read_metrics_file(options.metrics_file);
  if (!old) return old.error();
  const std::string text =
      next_metrics_file(*old, view, {options.job, options.lock}, run_errors_of(outcome));
  if (const Status replaced = replace_metrics_file(options.metrics_file, text); !replaced)
    return replaced.error();
  return run_error_metrics(parse_metrics_file(text).errors);
}

std::string host_name() {
  utsname names;
  return uname(&names) == 0 ? names.nodename : "";
}

// Run errors are pushed only with a metrics file, which keeps their count over several runs.
Status push_run_metrics(const Options& options, const std::optional<LockView>& view,
                        std::string_view errors, const Clock& clock) {
  const Result<PushUrl> url = parse_push_url(options.metrics_push);
  if (!url) return url.error();
  const LockStatsScope lock_stats_of = store_transport(options.store) == StoreTransport::local
                                           ? LockStatsScope::this_host
                                           : LockStatsScope::shared_store;
  const TimePoint give_up = clock.now() + kPushTimeout;
  const std::string lock_stats = view ? lock_stats_metrics({*view}) : std::string();
  for (const Push& push : pushes_of(lock_stats, errors, options.lock, host_name(), lock_stats_of))
    if (const Status pushed = push_metrics(options, *url, push, give_up); !pushed) return pushed;
  return Done{};
}

void write_metrics(const Outcome& outcome, const Options& options, LockStats* lock_stats,
                   const Log& log, const Clock& clock) {
  const std::optional<LockView> view = read_lock(outcome, lock_stats, options, log, clock);
  std::string errors;
  if (!options.metrics_file.empty()) {
    Result<std::string> updated = update_metrics_file(outcome, options, view);
    if (updated)
      errors = std::move(updated).value();
    else
      log(warning("metrics_file", updated.error()));
  }
  if (options.metrics_push.empty()) return;
  if (const Status pushed = push_run_metrics(options, view, errors, clock); !pushed)
    log(warning("metrics_push", pushed.error()));
}

// Whether the next word is the value of this one. Of an unknown flag only if `--` ends the options:
// otherwise the next word can be a command, whose flags are not for cronlatch.
bool may_take_next(const std::string& argument, bool has_separator) {
  if (!argument.starts_with("--") || argument.find('=') != std::string::npos) return false;
  const Option* const option = find_option(std::string_view(argument).substr(2));
  if (option == nullptr) return has_separator;
  return !std::holds_alternative<bool Options::*>(option->field);
}

// The value of the flag or its variable, read without the checks that failed. A word that is no
// flag ends the options: the flags after it are those of a command without -- before it.
std::string unchecked_value(const Invocation& invocation, const Option& option) {
  const std::string flag = flag_of(option);
  const std::vector<std::string>& words = invocation.arguments;
  const bool has_separator = std::find(words.begin(), words.end(), "--") != words.end();
  bool isolated = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& argument = words[i];
    const bool is_value = i > 0 && may_take_next(words[i - 1], has_separator);
    if (argument == "--" || (!argument.starts_with('-') && !is_value)) break;
    if (argument.starts_with(flag + '=')) return argument.substr(flag.size() + 1);
    if (argument == flag && i + 1 < words.size()) return words[i + 1];
    isolated = isolated || argument == "--isolated" || argument == "--isolated=true";
  }
  if (isolated) return "";
  return variable(invocation.environment, variable_of(option)).value_or("");
}

}  // namespace

int report(const Outcome& outcome, const Options& options, LockStats* lock_stats, const Log& log,
           const Clock& clock) {
  if (!options.metrics_file.empty() || !options.metrics_push.empty())
    write_metrics(outcome, options, lock_stats, log, clock);
  const bool logged = log.format() == LogFormat::json;
  if (!options.outcome_file.empty() || logged) {
    const std::string json = to_json(outcome, options.exit_skipped);
    if (!options.outcome_file.empty())
      if (const Status written = write_outcome_file(options.outcome_file, json); !written)
        log(warning("outcome_file", written.error()));
    if (logged) log.raw(json);
  }
  return exit_code(outcome, options.exit_skipped);
}

Outcome report_unloadable(const Error& error, const Invocation& invocation, const Log::Sink& sink) {
  Options options;
  for (const std::string_view key : {"log-format", "outcome-file"}) {
    const Option& option = *find_option(key);
    const std::string value = unchecked_value(invocation, option);
    // A value that is not valid is the error, or follows it: the default stays.
    if (!value.empty()) static_cast<void>(apply_text(options, option, value).ok());
  }
  const Outcome outcome = outcome_of(error, Options{}, invocation.clock.wall());
  const Log log(options.log_format, options.log_level, invocation.clock, sink);
  log(line_of(outcome));
  report(outcome, options, nullptr, log, invocation.clock);
  return outcome;
}

Outcome outcome_of(const Error& error, const Options& options, WallTime started) {
  Outcome outcome;
  outcome.error = error;
  outcome.lock = options.lock;
  outcome.holder = options.holder;
  outcome.started = started;
  switch (error.code) {
    case Code::usage:
    case Code::system:
    case Code::bug:
      outcome.kind = Kind::usage;
      outcome.reason = Reason::config;
      break;
    case Code::config:
      outcome.kind = Kind::refused;
      outcome.reason = Reason::config;
      break;
    case Code::exec_denied:
    case Code::exec_missing:
      outcome.kind = Kind::cannot_start;
      outcome.reason = Reason::exec;
      break;
    case Code::unreachable:
      outcome.kind = Kind::store_down;
      outcome.reason = Reason::unreachable;
      break;
    case Code::auth:
      outcome.kind = Kind::refused;
      outcome.reason = Reason::auth;
      break;
    case Code::acl:
      outcome.kind = Kind::refused;
      outcome.reason = Reason::acl;
      break;
    case Code::tls:
      outcome.kind = Kind::refused;
      outcome.reason = Reason::tls;
      break;
  }
  return outcome;
}

LogLine line_of(const Outcome& outcome) {
  LogLine line{Level::error, std::string(name_of(outcome.kind)), "", {}, ""};
  if (outcome.error) {
    line.message = outcome.error->message;
    line.hint = outcome.error->hint;
  }
  return line;
}

}  // namespace cronlatch
