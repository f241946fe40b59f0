// SPDX-License-Identifier: Apache-2.0
// JSON arrays of strings (skip-command), and objects of them. Strict, by RFC 8259.
#include <optional>

#include "base/text.h"

namespace cronlatch {
namespace {

class TextJsonReader {
 public:
  explicit TextJsonReader(std::string_view text) : rest_(text), size_(text.size()) {}

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  // A string with its quotes; std::nullopt when there is none or it is malformed.
  std::optional<std::string> string();
  // An array of them, likewise.
  std::optional<std::vector<std::string>> strings();
  std::size_t position() const { return size_ - rest_.size() + 1; }

 private:
  void skip_blanks() {
    while (!rest_.empty() &&
           std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos)
      rest_.remove_prefix(1);
  }
  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool escape(std::string& out);
  std::optional<unsigned> hex4();
  bool unicode(std::string& out);

  std::string_view rest_;
  std::size_t size_;
};

void append_utf8(std::string& out, unsigned code) {
  const auto byte = [&](unsigned value) {
    out += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

std::optional<unsigned> TextJsonReader::hex4() {
  if (rest_.size() < 4) return std::nullopt;
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = next();
    const std::size_t digit = std::string_view("0123456789abcdef")
                                  .find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool TextJsonReader::unicode(std::string& out) {
  const std::optional<unsigned> first = hex4();
  if (!first) return false;
  if (*first >= 0xDC00 && *first <= 0xDFFF) return false;
  if (*first < 0xD800 || *first > 0xDBFF) {
    append_utf8(out, *first);
    return true;
  }
  if (rest_.substr(0, 2) != "\\u") return false;
  rest_.remove_prefix(2);
  const std::optional<unsigned> second = hex4();
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return false;
  append_utf8(out, 0x10000U + ((*first - 0xD800U) << 10U) + (*second - 0xDC00U));
  return true;
}

bool TextJsonReader::escape(std::string& out) {
  if (rest_.empty()) return false;
  const char c = next();
  if (c == 'u') return unicode(out);
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t at = kNames.find(c);
  if (at == std::string_view::npos) return false;
  out += kMeanings[at];
  return true;
}

std::optional<std::string> TextJsonReader::string() {
  if (!take('"')) return std::nullopt;
  std::string out;
  while (!rest_.empty()) {
    const char c = next();
    if (c == '"') return out;
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    if (c != '\\') {
      out += c;
    } else if (!escape(out)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> TextJsonReader::strings() {
  std::vector<std::string> strings;
  if (!take('[')) return std::nullopt;
  if (take(']')) return strings;
  do {
    std::optional<std::string> one = string();
    if (!one) return std::nullopt;
    strings.push_back(std::move(*one));
  } while (take(','));
  if (!take(']')) return std::nullopt;
  return strings;
}

Error not_json(std::string_view text, const char* what, const TextJsonReader& reader,
               const char* hint) {
  return {Code::usage,
          quoted(text) + " is not " + what + ", see position " + std::to_string(reader.position()),
          hint};
}

}  // namespace

Result<std::vector<std::string>> parse_json_strings(std::string_view text) {
  TextJsonReader reader(text);
  std::optional<std::vector<std::string>> strings = reader.strings();
  if (!strings || !reader.at_end())
    return not_json(text, "a JSON array of strings", reader,
                    R"(write it like ["sh", "-c", "echo skipped"])");
  return std::move(*strings);
}

std::string show_json_strings(const std::vector<std::string>& strings) {
  std::string out = "[";
  for (const std::string& one : strings) out += (out.size() > 1 ? "," : "") + json_quoted(one);
  return out + "]";
}

Result<StringLists> parse_json_string_lists(std::string_view text) {
  TextJsonReader reader(text);
  const auto wrong = [&] {
    return not_json(text, "a JSON object of arrays of strings", reader,
                    R"(write it like {"amd64": ["/app"], "arm64": ["/app-arm"]})");
  };
  StringLists lists;
  if (!reader.take('{')) return wrong();
  if (!reader.take('}')) {
    do {
      std::optional<std::string> name = reader.string();
      if (!name || !reader.take(':')) return wrong();
      std::optional<std::vector<std::string>> strings = reader.strings();
      if (!strings || !lists.emplace(std::move(*name), std::move(*strings)).second) return wrong();
    } while (reader.take(','));
    if (!reader.take('}')) return wrong();
  }
  if (!reader.at_end()) return wrong();
  return lists;
}

std::string show_json_string_lists(const StringLists& lists) {
  std::string out = "{";
  for (const auto& [name, strings] : lists)
    out += (out.size() > 1 ? "," : "") + json_quoted(name) + ":" + show_json_strings(strings);
  return out + "}";
}

}  // namespace cronlatch
