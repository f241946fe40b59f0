// SPDX-License-Identifier: Apache-2.0
#include "operator/command_line.h"

#include <utility>

#include "base/text.h"
#include "kube/access.h"

namespace cronlatch::op {
namespace {

constexpr std::string_view kHelp =
    R"(cronlatch-operator --config /etc/cronlatch/operator.yaml

Serves admission reviews for the API server (HTTPS, /admit/cronjob and /admit/job), copies lock
annotations of CronJobs to their Job templates, and serves health, metrics and locks
(HTTP, /healthz /readyz /metrics /status; with metrics-auth: token the last two
over HTTPS, for clients with a token).

  --config FILE   settings file (YAML); default /etc/cronlatch/operator.yaml
  version         print the version
  help            print this text

Outside of a cluster it serves only admission reviews and metrics, with certificate-mode: files.
Exit codes: 0 after SIGTERM or SIGINT, 64 invalid command line, 78 invalid settings.
)";

constexpr std::string_view kSource = "settings:";  // parse_settings uses it in place of a file name

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
  const auto yaml = kube::read_small_file(path);
  if (!yaml)
    return Error{Code::config, yaml.error().message, "name the settings file with --config FILE"};
  auto settings = parse_settings(*yaml);
  if (!settings) {
    // "settings:2: unknown key" becomes "FILE:2: unknown key". The code is always `config`: the
    // user did not write the command line wrongly.
    const std::string& what = settings.error().message;
    const bool has_line = what.starts_with(kSource);
    return Error{Code::config, path + (has_line ? ":" + what.substr(kSource.size()) : ": " + what),
                 settings.error().hint};
  }
  if (auto own = environment("POD_NAMESPACE"); !own.empty()) settings->namespace_name = own;
  return settings;
}

}  // namespace cronlatch::op
