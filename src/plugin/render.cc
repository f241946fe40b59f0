// SPDX-License-Identifier: Apache-2.0
#include "plugin/render.h"

namespace cronlatch::plugin {
namespace {

std::string text_of(const Output& output) {
  std::string text;
  for (const Section& section : output.sections) {
    if (!text.empty()) text += '\n';
    if (!section.title.empty()) text += section.title + '\n';
    if (!section.table.empty()) text += render_table(section.table);
    for (const std::string& line : section.lines) text += line + (line.ends_with('\n') ? "" : "\n");
  }
  return text;
}

std::string names_of(const Output& output) {
  std::string text;
  for (const std::string& name : output.names) text += name + '\n';
  return text;
}

}  // namespace

std::string render(const Output& output, OutputFormat format) {
  if (output.json.is_null()) return text_of(output);
  switch (format) {
    case OutputFormat::table:
    case OutputFormat::wide:
      break;
    case OutputFormat::json:
      return output.json.dump(2, ' ', false, kube::Json::error_handler_t::replace) + '\n';
    case OutputFormat::yaml:
      return to_yaml(output.json);
    case OutputFormat::name:
      return names_of(output);
  }
  return text_of(output);
}

}  // namespace cronlatch::plugin
