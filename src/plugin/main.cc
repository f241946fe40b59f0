// SPDX-License-Identifier: Apache-2.0
// kubectl-cronlatch, the plugin of kubectl: connects the plugin to this process. kubectl finds it
// in PATH by its file name and passes the arguments after `kubectl cronlatch`.
#include <poll.h>

#include <csignal>
#include <cstdlib>

#include "base/kernel_clock.h"
#include "core/outcome.h"
#include "plugin/commands.h"
#include "proc/startup.h"
#include "terminal/stdio.h"
#include "terminal/table.h"

namespace cronlatch::plugin {
namespace {

ZoneSource zone_source() {
  std::vector<std::string> directories;
  if (const char* const given = std::getenv("TZDIR")) directories.emplace_back(given);
  directories.insert(directories.end(), {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                         "/usr/share/lib/zoneinfo", "/etc/zoneinfo"});
  return [directories](const std::string& name) { return find_zone(name, directories); };
}

std::string text_of(const Page& page) {
  std::string text;
  for (const Block& block : page.blocks) {
    if (!text.empty()) text += '\n';
    if (!block.title.empty()) text += block.title + '\n';
    if (!block.table.empty()) text += render_table(block.table);
    for (const std::string& line : block.lines) text += line + (line.ends_with('\n') ? "" : "\n");
  }
  return text;
}

int fail(const Error& error) {
  write_stderr(describe(error));
  return exit_code(error);
}

int program(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const KernelClock clock;
  const auto arguments = parse_arguments(words, environment);
  if (!arguments) return fail(arguments.error());
  RealKubectl kubectl({.program = arguments->kubectl, .flags = arguments->cluster_flags}, clock);
  const Surroundings around{
      kubectl, clock, zone_source(),
      [](const std::string& line) { write_stderr("cronlatch: " + line + '\n'); },
      [](Millis d) { poll(nullptr, 0, static_cast<int>(d.count())); }};
  const Result<Page> page = run_plugin(*arguments, around);
  if (!page) return fail(page.error());
  const bool json = arguments->output == Output::json && !page->json.is_null();
  const std::string text =
      json ? page->json.dump(2, ' ', false, kube::Json::error_handler_t::replace) + '\n'
           : text_of(*page);
  if (const Status written = write_stdout(text); !written) return fail(written.error());
  return page->exit_code;
}

}  // namespace
}  // namespace cronlatch::plugin

int main(int argc, char** argv) {
  cronlatch::reserve_standard_fds();
  // A closed pipe is an error of write, for standard output and for kubectl's standard input.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words, environment;
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return cronlatch::plugin::program(words, environment);
}
