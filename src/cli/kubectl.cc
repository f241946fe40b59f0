// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch`: the same program under the name kubectl-cronlatch, or `cronlatch kubectl`.
// Wires the plugin to this process; what it says and how is in src/plugin.
#include <poll.h>

#include "cli/session.h"
#include "cli/stdio.h"
#include "config/environment.h"
#include "plugin/commands.h"

namespace cronlatch {
namespace {

constexpr std::string_view kZoneDirectoryVariable = "TZDIR";

plugin::ZoneSource zones_of(const Invocation& invocation) {
  std::vector<std::string> directories;
  if (const auto given = variable(invocation.environment, kZoneDirectoryVariable))
    directories.push_back(*given);
  directories.insert(directories.end(), {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                         "/usr/share/lib/zoneinfo", "/etc/zoneinfo"});
  return [directories](const std::string& name) { return plugin::find_zone(name, directories); };
}

std::string text_of(const plugin::Page& page) {
  std::string text;
  for (const plugin::Block& block : page.blocks) {
    if (!text.empty()) text += '\n';
    if (!block.title.empty()) text += block.title + '\n';
    if (!block.table.empty()) text += render_table(block.table);
    for (const std::string& line : block.lines) text += line + (line.ends_with('\n') ? "" : "\n");
  }
  return text;
}

}  // namespace

Result<CommandOutput> kubectl_command(const Invocation& invocation) {
  const auto arguments = plugin::parse_arguments(invocation.arguments, invocation.environment);
  if (!arguments) return arguments.error();
  plugin::RealKubectl kubectl({.program = arguments->kubectl, .flags = arguments->cluster_flags},
                              invocation.clock);
  const plugin::Surroundings around{
      kubectl, invocation.clock, zones_of(invocation),
      [](const std::string& line) { write_stderr("cronlatch: " + line + '\n'); },
      [](Millis d) { poll(nullptr, 0, static_cast<int>(d.count())); }};
  const Result<plugin::Page> page = plugin::run_plugin(*arguments, around);
  if (!page) return page.error();
  if (arguments->output == plugin::Output::json && !page->json.is_null())
    return CommandOutput{
        page->json.dump(2, ' ', false, kube::Json::error_handler_t::replace) + '\n',
        page->exit_code};
  return CommandOutput{text_of(*page), page->exit_code};
}

}  // namespace cronlatch
