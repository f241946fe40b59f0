// SPDX-License-Identifier: Apache-2.0
#include "programs/shell_assignments.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::string_view kExport = "export ";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of editors on Windows

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_name(char c, bool is_first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (!is_first && c >= '0' && c <= '9');
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// Reads the value at the beginning of `rest`, up to the first blank outside of quotes. No value for
// text that needs a shell.
class ValueReader {
 public:
  explicit ValueReader(std::string_view rest) : rest_(rest) {}

  std::optional<std::string> read() {
    if (rest_.starts_with('~')) return std::nullopt;
    while (!rest_.empty() && !is_blank(rest_.front()))
      if (!read_part()) return std::nullopt;
    const std::string_view after = without_blanks(rest_);
    if (!after.empty() && !after.starts_with('#')) return std::nullopt;
    return value_;
  }

 private:
  bool read_part() {
    const char c = next();
    if (c == '\'') return read_single_quoted();
    if (c == '"') return read_double_quoted();
    if (c == '\\') {
      if (rest_.empty()) return false;
      value_ += next();
      return true;
    }
    if (std::string_view("$`;&|<>()").find(c) != std::string_view::npos || c == '\r') return false;
    value_ += c;
    return c != ':' || !rest_.starts_with('~');
  }

  bool read_single_quoted() {
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return false;
    value_ += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool read_double_quoted() {
    while (!rest_.empty()) {
      const char c = next();
      if (c == '"') return true;
      if (c == '$' || c == '`') return false;
      const bool is_escape =
          c == '\\' && !rest_.empty() &&
          std::string_view("$`\"\\").find(rest_.front()) != std::string_view::npos;
      value_ += is_escape ? next() : c;
    }
    return false;
  }

  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  std::string value_;
};

Error needs_shell(const std::string& where, std::string_view line, std::string_view secret) {
  const bool is_secret = line.find(secret) != std::string_view::npos;
  const std::string shown = is_secret ? std::string(secret) + "=..." : std::string(line);
  return {Code::config, where + ": " + quoted(shown) + " needs a shell, and nothing is executed",
          "write NAME=VALUE without commands, variables and expansions"};
}

}  // namespace

Result<std::vector<ShellAssignment>> parse_shell_assignments(const std::string& path,
                                                             std::string_view text,
                                                             std::string_view secret) {
  std::vector<ShellAssignment> assignments;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = path + ":" + std::to_string(number);
    if (line.ends_with('\r'))
      return Error{Code::config, where + ": the line has a Windows line end",
                   "convert the file: sed -i 's/\\r$//' " + path};
    std::string_view rest = line;
    if (rest.starts_with(kExport)) rest = without_blanks(rest.substr(kExport.size()));
    std::size_t length = 0;
    while (length < rest.size() && is_name(rest[length], length == 0)) ++length;
    const std::string_view name = rest.substr(0, length);
    if (length == 0 || length == rest.size() || rest[length] != '=')
      return needs_shell(where, line, secret);
    auto value = ValueReader(rest.substr(length + 1)).read();
    if (!value) return needs_shell(where, line, secret);
    assignments.push_back({std::string(name), std::move(*value), where});
  }
  return assignments;
}

}  // namespace cronlatch
