// SPDX-License-Identifier: Apache-2.0
#include "core/postgres_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/host_port.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxDatabase = 63;  // NAMEDATALEN - 1 of PostgreSQL

constexpr std::array<std::pair<std::string_view, SslMode>, 3> kModes = {{
    {"verify-full", SslMode::verify_full},
    {"require", SslMode::require},
    {"disable", SslMode::disable},
}};

Error wrong(std::string message) { return {Code::config, std::move(message)}; }

// The text before `separator`, which is removed with it; all of it without one.
std::string_view take_until(char separator, std::string_view& rest) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view found = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return found;
}

Status parse_hosts(std::string_view text, PostgresTarget& target) {
  bool is_last = false;
  while (!is_last && target.hosts.size() <= kMaxPostgresHosts) {
    is_last = text.find(',') == std::string_view::npos;
    const Result<HostPort> parsed = parse_host_port(take_until(',', text));
    if (!parsed) return wrong(parsed.error().message);
    PostgresTarget::Host host{parsed->host};
    host.port = parsed->port.value_or(host.port);
    target.hosts.push_back(std::move(host));
  }
  if (target.hosts.size() > kMaxPostgresHosts)
    return wrong("the URL has more than " + std::to_string(kMaxPostgresHosts) + " hosts");
  return Done{};
}

Status parse_database(std::string_view text, PostgresTarget& target) {
  if (text.empty()) return wrong("the database after the host is missing");
  // A char is signed on some architectures, and the name may contain bytes above 0x7F.
  const auto is_allowed = [](unsigned char c) {
    return c > ' ' && c != 0x7F && c != '/' && c != '%' && c != '#' && c != '@';
  };
  if (text.size() > kMaxDatabase || !std::all_of(text.begin(), text.end(), is_allowed))
    return wrong("the database must be 1 to 63 bytes without blanks, '/', '%', '#' and '@'");
  target.database = text;
  return Done{};
}

Status parse_mode(std::string_view text, PostgresTarget& target) {
  const auto* const at =
      std::ranges::find(kModes, text, &std::pair<std::string_view, SslMode>::first);
  if (at == kModes.end()) return wrong("sslmode must be verify-full, require or disable");
  target.sslmode = at->second;
  return Done{};
}

Status parse_wake(std::string_view text, PostgresTarget& target) {
  if (text != "poll") return wrong("wake must be poll, or must be removed");
  target.wake = WakeMode::poll;
  return Done{};
}

Status parse_option(std::string_view key, std::string_view value, PostgresTarget& target) {
  // Every connection has this property, so the option of libpq's URLs is accepted.
  if (key == "target_session_attrs" && value == "read-write") return Done{};
  if (key == "sslmode") return parse_mode(value, target);
  if (key == "wake") return parse_wake(value, target);
  return wrong("the URL can have the options sslmode and wake only; set others by their own keys");
}

Status parse_options(std::string_view text, PostgresTarget& target) {
  while (!text.empty()) {
    std::string_view value = take_until('&', text);
    const std::string_view key = take_until('=', value);
    if (Status option = parse_option(key, value, target); !option) return option;
  }
  return Done{};
}

}  // namespace

Result<PostgresTarget> parse_postgres_target(std::string_view text) {
  PostgresTarget target;
  if (text.find('#') != std::string_view::npos) return wrong("the URL has a '#' part");
  std::string_view path = take_until('?', text);
  if (Status hosts = parse_hosts(take_until('/', path), target); !hosts) return hosts.error();
  if (Status database = parse_database(path, target); !database) return database.error();
  if (Status options = parse_options(text, target); !options) return options.error();
  return target;
}

std::string show_postgres_target(const PostgresTarget& target) {
  std::string text;
  for (const PostgresTarget::Host& host : target.hosts)
    text += (text.empty() ? "" : ",") + show_host_port(host.host, host.port);
  text += '/' + target.database;
  char separator = '?';
  for (const auto& [name, mode] : kModes)
    if (mode == target.sslmode && mode != SslMode::verify_full) {
      text += "?sslmode=" + std::string(name);
      separator = '&';
    }
  if (target.wake == WakeMode::poll) text += std::string(1, separator) + "wake=poll";
  return text;
}

}  // namespace cronlatch
