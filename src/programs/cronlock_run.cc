// SPDX-License-Identifier: Apache-2.0
#include "programs/cronlock_run.h"

#include <algorithm>

#include "base/digest.h"
#include "base/host_port.h"
#include "base/shell_text.h"
#include "base/text.h"

namespace cronlatch {
namespace {

using S = CronlockSettings;

constexpr std::int64_t kLongestWait = 365 * 86'400;          // in seconds, as the others
constexpr std::int64_t kShortestTtl = 5, kDefaultTtl = 120;  // in seconds: the limits of ttl
constexpr std::int64_t kLongestConnect = 60;

bool is_host(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') ||
           std::string_view(".-_:").find(c) != std::string_view::npos;
  });
}

std::string show_host(const std::string& host, std::int64_t port) {
  return show_host_port(host, static_cast<std::uint16_t>(port));
}

std::string seconds(std::string_view flag, std::int64_t n) {
  return std::string(flag) + std::to_string(n) + "s";
}

std::string store_of(const S& s) {
  const std::string db = "/" + std::to_string(s.db);
  if (s.use_sentinel)
    return "redis+sentinel://" + show_host(s.sentinel_host, s.sentinel_port) + "/" +
           s.sentinel_master + db;
  return (s.tls ? "rediss://" : "redis://") + show_host(s.host, s.port) + db;
}

std::string key_of(const S& s, const CronlockFlavor& flavor,
                   const std::vector<std::string>& command) {
  if (s.key) return s.prefix + *s.key;
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return s.prefix + md5_hex(text + std::string(flavor.key_end));
}

// The time that all attempts of the other program take.
std::int64_t wait_of(const S& s, const CronlockFlavor& flavor) {
  const std::int64_t pauses =
      flavor.is_backoff_growing ? s.attempts * (s.attempts + 1) / 2 : s.attempts;
  return std::min(kLongestWait, pauses * s.backoff);
}

struct CronlockLogin {
  std::string user;
  std::string password;
  std::string password_text;
};

// The text of a double-quoted word of the shell. The configuration file is one of assignments,
// which the shell can read, too.
std::string password_text(const S& s, const std::string& variable) {
  if (s.auth_file.empty()) return variable;
  const std::string path =
      s.auth_file.find('/') == std::string::npos ? "./" + s.auth_file : s.auth_file;
  return "$(. " + shell_word(path) + " && printf %s \"" + variable + "\")";
}

CronlockLogin login_of(const S& s, const CronlockFlavor& flavor) {
  if (s.auth.empty()) return {};
  const std::size_t blank = flavor.has_user_in_auth ? s.auth.find(' ') : std::string::npos;
  if (blank == std::string::npos) return {"", s.auth, password_text(s, "$CRONLOCK_AUTH")};
  return {s.auth.substr(0, blank), s.auth.substr(blank + 1),
          password_text(s, "${CRONLOCK_AUTH#* }")};
}

std::vector<std::string> store_options(const S& s, const CronlockLogin& login) {
  std::vector<std::string> options = {"--isolated", "--store=" + store_of(s)};
  if (!login.user.empty()) options.push_back("--redis-username=" + login.user);
  if (s.tls && s.tls_skip_verify) options.emplace_back("--tls-skip-verify");
  options.push_back(seconds("--connect-timeout=", std::min(s.redis_timeout, kLongestConnect)));
  return options;
}

std::vector<std::string> run_options(const S& s, const CronlockFlavor& flavor,
                                     const CronlockLogin& login, const std::string& key) {
  std::vector<std::string> options = store_options(s, login);
  const auto add = [&](std::string option) { options.push_back(std::move(option)); };
  add("--key-format=" + std::string(flavor.program));
  add("--foreign-key=" + key);
  // How long a crash blocks the key; a run that lives renews it.
  add(seconds("--ttl=", std::clamp(s.release, kShortestTtl, kDefaultTtl)));
  if (s.grace > 0) add(seconds("--min-hold=", s.grace));
  if (s.timeout > 0) add(seconds("--max-run=", s.timeout));
  if (const std::int64_t wait = wait_of(s, flavor); wait > 0) {
    add("--on-store-down=wait");
    add(seconds("--wait-timeout=", wait));
  }
  add("--exit-skipped=" + std::to_string(kCronlockSkipped));
  // Both release the lock when the command exits, and let its background processes continue.
  add("--leftovers=leave");
  add(s.verbose ? "--log-level=info" : "--log-level=warn");
  return options;
}

Error usage(const CronlockFlavor& flavor, std::string message, std::string hint) {
  return {Code::usage, std::string(flavor.program) + ": " + std::move(message), std::move(hint)};
}

Status check_names(const S& s, const CronlockFlavor& flavor, const std::string& key) {
  const std::string& host = s.use_sentinel ? s.sentinel_host : s.host;
  if (!is_host(host))
    return usage(
        flavor, "the host " + quoted(host) + " is not a name or an address",
        std::string("set ") + (s.use_sentinel ? "CRONLOCK_SENTINEL_HOST" : "CRONLOCK_HOST"));
  if (s.use_sentinel && !is_host(s.sentinel_master))
    return usage(flavor,
                 "CRONLOCK_SENTINEL_MASTER: " + quoted(s.sentinel_master) +
                     " is not a name that a URL can contain",
                 "use letters, digits, . - _");
  if (const Status checked = check_foreign_key(key); !checked)
    return usage(flavor, "CRONLOCK_KEY, CRONLOCK_PREFIX: " + checked.error().message,
                 checked.error().hint);
  return Done{};
}

std::string messages_of(const S& s, const CronlockFlavor& flavor, const std::string& key) {
  const std::string name(flavor.program);
  std::string text;
  if (s.ntpdate)
    text += name + ": CRONLOCK_NTPDATE: ntpdate is not executed; the server's clock decides\n";
  if (s.show_key) text += name + ": the key is " + key + "\n";
  return text;
}

}  // namespace

CronlockWords split_cronlock_words(std::span<const std::string> arguments) {
  CronlockWords words;
  if (!arguments.empty())
    for (const std::string_view flag : {"--explain", "--help", "--version"})
      if (arguments.front() == flag) words.first = flag;
  const auto rest = arguments.subspan(words.first.empty() ? 0 : 1);
  words.command.assign(rest.begin(), rest.end());
  return words;
}

Result<ParsedProgram> cronlock_run(const S& settings, const CronlockFlavor& flavor,
                                   CronlockWords words) {
  if (words.first == "--version")
    return ParsedProgram(
        ProgramText{std::string(flavor.program) + " (cronlatch " CRONLATCH_VERSION ")\n"});
  if (words.command.empty())
    return usage(flavor, "no command",
                 "write " + std::string(flavor.program) + " COMMAND [ARG...]");
  const std::string key = key_of(settings, flavor, words.command);
  if (const Status checked = check_names(settings, flavor, key); !checked) return checked.error();
  const CronlockLogin login = login_of(settings, flavor);
  const bool explain = words.first == "--explain";
  if (settings.reset)
    return ParsedProgram(NativeRelease{.lock = lock_of_shared_key(flavor.format, key),
                                       .options = store_options(settings, login),
                                       .exit_code = kCronlockSkipped,
                                       .explain = explain,
                                       .password = Secret(login.password),
                                       .password_text = login.password_text});
  return ParsedProgram(NativeRun{.options = run_options(settings, flavor, login, key),
                                 .command = std::move(words.command),
                                 .explain = explain,
                                 .message = messages_of(settings, flavor, key),
                                 .password = Secret(login.password),
                                 .password_text = login.password_text});
}

int cronlock_exit_code(const Outcome& outcome) {
  switch (outcome.kind) {
    case Kind::ran:
    case Kind::interrupted:
    case Kind::cannot_start:
      return exit_code(outcome, kCronlockSkipped);
    case Kind::skipped:
    case Kind::busy:
      return kCronlockSkipped;
    case Kind::timed_out:
      return kCronlockTimedOut;
    case Kind::lost:
    case Kind::store_down:
    case Kind::refused:
    case Kind::usage:
      return kCronlockError;
  }
  return kCronlockError;
}

}  // namespace cronlatch
