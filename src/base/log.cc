// SPDX-License-Identifier: Apache-2.0
// Rendering of log lines and the filter by level.
#include "base/log.h"

#include "base/rfc3339.h"
#include "base/text.h"

namespace cronlatch {
namespace {

// Longer than any message of cronlatch, which can quote an error of the store.
constexpr std::size_t kMaxMessage = 2'000;

std::string_view name_of(Level level) {
  switch (level) {
    case Level::error:
      return "error";
    case Level::warn:
      return "warn";
    case Level::info:
      return "info";
    case Level::debug:
      return "debug";
  }
  return "error";
}

std::string as_text(const LogLine& line) {
  std::string out = "cronlatch: " + printable(line.message, kMaxMessage);
  if (!line.hint.empty()) out += " (" + printable(line.hint) + ")";
  return out;
}

std::string as_json(const LogLine& line, WallTime now) {
  std::string out = "{\"time\":" + json_quoted(rfc3339(now));
  const auto add = [&](std::string_view key, std::string_view value) {
    out += "," + json_quoted(key) + ":" + json_quoted(value);
  };
  add("level", name_of(line.level));
  add("event", line.event);
  add("message", line.message);
  for (const auto& [key, value] : line.fields) add(key, value);
  if (!line.hint.empty()) add("hint", line.hint);
  return out + "}";
}

// Without quotes where that is unambiguous, else in quotes with the escapes of JSON, as readers of
// logfmt expect.
std::string logfmt_value(std::string_view value) {
  bool bare = !value.empty();
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F || c == '"' || c == '=' || c == '\\') bare = false;
  }
  return bare ? std::string(value) : json_quoted(value);
}

std::string as_logfmt(const LogLine& line, WallTime now) {
  std::string out = "time=" + rfc3339(now);
  const auto add = [&](std::string_view key, std::string_view value) {
    out += " " + std::string(key) + "=" + logfmt_value(value);
  };
  add("level", name_of(line.level));
  add("event", line.event);
  add("message", line.message);
  for (const auto& [key, value] : line.fields) add(key, value);
  if (!line.hint.empty()) add("hint", line.hint);
  return out;
}

}  // namespace

std::string render(const LogLine& line, LogFormat format, WallTime now) {
  switch (format) {
    case LogFormat::text:
      return as_text(line);
    case LogFormat::json:
      return as_json(line, now);
    case LogFormat::logfmt:
      return as_logfmt(line, now);
  }
  return as_text(line);
}

Log::Log(LogFormat format, Level level, const Clock& clock, Sink sink)
    : format_(format), level_(level), clock_(clock), sink_(std::move(sink)) {}

void Log::operator()(const LogLine& line) const {
  if (line.level <= level_) sink_(render(line, format_, clock_.wall()) + "\n");
}

void Log::raw(std::string_view line) const { sink_(std::string(line) + "\n"); }

}  // namespace cronlatch
