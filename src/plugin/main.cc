// SPDX-License-Identifier: Apache-2.0
// kubectl-cronlatch, the plugin of kubectl: connects the plugin to this process. kubectl finds it
// in PATH by its file name and passes the arguments after `kubectl cronlatch`.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/kernel_clock.h"
#include "base/standard_fds.h"
#include "core/outcome.h"
#include "plugin/run_verb.h"
#include "terminal/stdio.h"

extern "C" char** environ;  // no header of macOS declares it

namespace cronlatch::plugin {
namespace {

ZoneSource zone_source() {
  std::vector<std::string> directories;
  if (const char* const given = std::getenv("TZDIR")) directories.emplace_back(given);
  directories.insert(directories.end(), {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                         "/usr/share/lib/zoneinfo", "/etc/zoneinfo"});
  return [directories](const std::string& name) { return find_zone(name, directories); };
}

int fail(const Error& error) {
  write_stderr(describe(error));
  return exit_code(error);
}

int program(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const KernelClock clock;
  const auto arguments = parse_arguments(words, environment);
  if (!arguments) return fail(arguments.error());
  RealKubectl kubectl({.program = arguments->kubectl, .flags = arguments->kubectl_flags}, clock);
  const Context context{kubectl,
                        clock,
                        zone_source(),
                        [](const std::string& line) { write_stderr("cronlatch: " + line + '\n'); },
                        [](Millis d) { poll(nullptr, 0, static_cast<int>(d.count())); },
                        [&clock](const std::string& name, const std::vector<std::string>& args) {
                          RealKubectl other({.program = name, .flags = {}}, clock);
                          return run_one(other, captured(args));
                        }};
  const Result<int> status = run_verb(*arguments, context, write_stdout);
  return status ? *status : fail(status.error());
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
