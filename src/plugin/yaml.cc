// SPDX-License-Identifier: Apache-2.0
// JSON values as YAML. A JSON string is also a double-quoted scalar of YAML (YAML 1.2, section
// 1.3), so only strings that are plainly text are left unquoted.
#include <algorithm>
#include <array>

#include "plugin/render.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Args that YAML 1.1 or 1.2 reads as booleans or null.
bool is_reserved(std::string word) {
  constexpr std::array<std::string_view, 9> kReserved = {"y",   "n",    "yes",   "no",  "on",
                                                         "off", "true", "false", "null"};
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

bool can_be_plain(const std::string& text) {
  if (text.empty() || (!is_letter(text.front()) && text.front() != '/')) return false;
  return text.back() != ' ' && !is_reserved(text) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') ||
                  std::string_view(" _./()-").find(c) != std::string_view::npos;
         });
}

std::string scalar(const Json& value) {
  if (value.is_object()) return "{}";
  if (value.is_array()) return "[]";
  if (value.is_string() && can_be_plain(value.get_ref<const std::string&>())) return value;
  return kube::to_text(value);
}

bool is_collection(const Json& value) { return value.is_structured() && !value.empty(); }

// `indent`: of its lines; the first one has been indented already.
void write_collection(const Json& value, std::size_t indent, std::string& out) {
  bool first = true;
  const auto begin_line = [&] {
    if (!first) out.append(indent, ' ');
    first = false;
  };
  if (value.is_array()) {
    for (const Json& item : value) {
      begin_line();
      out += "- ";
      if (is_collection(item))
        write_collection(item, indent + 2, out);
      else
        out += scalar(item) + '\n';
    }
    return;
  }
  for (const auto& [key, item] : value.items()) {
    begin_line();
    out += scalar(Json(key)) + ':';
    if (!is_collection(item)) {
      out += ' ' + scalar(item) + '\n';
      continue;
    }
    const std::size_t inner = item.is_array() ? indent : indent + 2;
    out += '\n' + std::string(inner, ' ');
    write_collection(item, inner, out);
  }
}

}  // namespace

std::string to_yaml(const Json& value) {
  if (!is_collection(value)) return scalar(value) + '\n';
  std::string out;
  write_collection(value, 0, out);
  return out;
}

}  // namespace cronlatch::plugin
