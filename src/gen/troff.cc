// SPDX-License-Identifier: Apache-2.0
#include "gen/troff.h"

#include <algorithm>

namespace cronlatch::gen::troff {
namespace {

// Characters that troff would change or read as its own.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A line of text must not begin like a request.
std::string as_line(std::string text) {
  if (text.starts_with('.')) text.insert(0, "\\&");
  return text + '\n';
}

// A text between backticks becomes bold.
std::string with_code(std::string_view text) {
  std::string out;
  bool is_code = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('`'), text.size());
    out += escaped(text.substr(0, end));
    if (end == text.size()) break;
    out += is_code ? "\\fR" : "\\fB";
    is_code = !is_code;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::string page(std::string_view name, std::string_view summary, std::string_view source) {
  std::string title;
  for (const char c : name) title += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Rendered from " + std::string(source) +
         " by `./dev gen`. Do not edit.\n.TH " + title +
         " 1 \"\" \"cronlatch " CRONLATCH_VERSION "\"\n.SH NAME\n" + escaped(name) + " \\- " +
         escaped(summary) + '\n';
}

std::string section(std::string_view title) { return ".SH " + std::string(title) + '\n'; }

std::string text(std::string_view text) { return as_line(with_code(text)); }

std::string paragraph(std::string_view text) { return ".PP\n" + as_line(with_code(text)); }

std::string line_break() { return ".br\n"; }

std::string item(std::string_view term, std::string_view value, std::string_view text) {
  std::string out = ".TP\n\\fB" + escaped(term) + "\\fR";
  if (!value.empty()) out += " \\fI" + escaped(value) + "\\fR";
  return out + '\n' + as_line(with_code(text));
}

std::string lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::string rendered = as_line(with_code(line.substr(blanks)));
    out += blanks == 0 ? rendered : ".br\n" + rendered + ".br\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

std::string example(std::string_view line) {
  return ".PP\n.RS\n.nf\n" + as_line(escaped(line)) + ".fi\n.RE\n";
}

std::string synopsis(std::string_view command, std::string_view arguments) {
  return "\\fB" + escaped(command) + "\\fR" + (arguments.empty() ? "" : " " + escaped(arguments)) +
         "\n";
}

}  // namespace cronlatch::gen::troff
