// SPDX-License-Identifier: Apache-2.0
// Few words, one file; every complaint says where and how to go on.
#include "operator/command_line.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace cronlatch::op {
namespace {

constexpr std::string_view kHelp =
    R"(cronlatch-operator --config /etc/cronlatch/operator.yaml

Answers the API server's admission reviews (HTTPS, /admit/cronjob and /admit/job), mirrors lock
annotations of CronJobs, and tells health, metrics and locks (HTTP, /healthz /readyz /metrics /status).

  --config FILE   the settings as YAML; default /etc/cronlatch/operator.yaml
  version         print the version
  help            print this

Outside of a cluster it serves admissions and metrics only, with certificate-mode: files.
Exit codes: 0 after SIGTERM or SIGINT, 64 wrong use, 78 settings that cannot be used.
)";

constexpr std::string_view kNameless = "settings:";  // what parse_settings calls its text

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "version" || argument == "--version") {
      line.print = "cronlatch-operator " CRONLATCH_VERSION "\n";
    } else if (argument == "help" || argument == "--help" || argument == "-h") {
      line.print = kHelp;
    } else if (argument == "--config" && i + 1 < arguments.size()) {
      line.config = arguments[++i];
    } else if (argument.starts_with("--config=")) {
      line.config = argument.substr(std::string_view("--config=").size());
    } else {
      return Error{Code::usage, "unexpected argument " + cronlatch::quoted(argument),
                   "see cronlatch-operator help"};
    }
  }
  return line;
}

Result<Settings> read_settings(const std::string& path, const EnvironmentVariable& environment) {
  std::ifstream file(path, std::ios::binary);
  const std::string yaml{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return Error{Code::config, "cannot read " + path, "name the settings with --config FILE"};
  }
  auto settings = parse_settings(yaml);
  if (!settings) {
    // "settings:2: unknown key": here the file has a name. Whatever is wrong in it is the
    // platform's configuration and not somebody's use of a command.
    const std::string& what = settings.error().message;
    const bool placed = what.starts_with(kNameless);
    return Error{Code::config, path + (placed ? ":" + what.substr(kNameless.size()) : ": " + what),
                 settings.error().hint};
  }
  if (auto own = environment("POD_NAMESPACE"); !own.empty()) settings->namespace_name = own;
  return settings;
}

}  // namespace cronlatch::op
