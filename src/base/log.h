// SPDX-License-Identifier: Apache-2.0
// Log: one line per event, with a stable event name and fields. Rendering is pure; the caller gives
// the sink.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace cronlatch {

enum class Level {
  error,
  warn,
  info,
  debug
};  // error: needs the user's action; warn: degraded; info: once per step of a run
enum class LogFormat { text, json, logfmt };

struct LogLine {
  Level level = Level::info;
  std::string event;    // stable snake_case name, for searches and alerts
  std::string message;  // lower case, no full stop
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string hint{};  // how to fix it; may be empty
};

// text:   cronlatch: message (hint)           json, logfmt: time, level, event, message, fields,
// hint. No newline at the end; control characters and newlines in values are escaped, so that one
// event is always one line.
std::string render(const LogLine& line, LogFormat format, WallTime now);

class Log {
 public:
  using Sink = std::function<void(std::string_view line_with_newline)>;
  Log(LogFormat format, Level level, const Clock& clock, Sink sink);
  void operator()(const LogLine& line) const;
  // A finished line of another kind (the outcome's JSON object).
  void raw(std::string_view line) const;
  LogFormat format() const { return format_; }

 private:
  LogFormat format_;
  Level level_;
  const Clock& clock_;
  Sink sink_;
};

}  // namespace cronlatch
