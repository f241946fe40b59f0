// SPDX-License-Identifier: Apache-2.0
// Wires the operator: settings, ports, certificates, the controller; then waits for a signal and
// leaves in order.
#include "operator/program.h"

#include <unistd.h>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/log.h"
#include "core/outcome.h"
#include "core/text.h"
#include "kube/rest_api.h"
#include "operator/admission_server.h"
#include "operator/certificate_files.h"
#include "operator/guard.h"
#include "operator/host_clock.h"
#include "operator/metrics.h"
#include "operator/settings.h"

namespace cronlatch::op {
namespace {

constexpr std::string_view kHelp =
    R"(cronlatch-operator --config /etc/cronlatch/operator.yaml

Answers the API server's admission reviews (HTTPS, /admit/cronjob and /admit/job), mirrors lock
annotations of CronJobs, and tells health and metrics (HTTP, /healthz /readyz /metrics).

  --config FILE   the settings as YAML; default /etc/cronlatch/operator.yaml
  guard           list gated CronJobs and exit with 1 when there are any: before an uninstall
  version         print the version
  help            print this

Outside of a cluster it serves admissions only, with certificate-mode: files.
Exit codes: 0 after SIGTERM or SIGINT, 64 wrong use, 78 settings that cannot be used.
)";

struct CommandLine {
  std::string config = "/etc/cronlatch/operator.yaml";
  std::string_view print;  // instead of running
  bool guard = false;      // instead of running
};

Result<CommandLine> parse(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "version" || argument == "--version") {
      line.print = "cronlatch-operator " CRONLATCH_VERSION "\n";
    } else if (argument == "help" || argument == "--help" || argument == "-h") {
      line.print = kHelp;
    } else if (argument == "guard") {
      line.guard = true;
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

Result<Settings> settings_from(const std::string& path, const EnvironmentVariable& environment) {
  std::ifstream file(path, std::ios::binary);
  const std::string yaml{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return Error{Code::config, "cannot read " + path, "name the settings with --config FILE"};
  }
  auto settings = parse_settings(yaml);
  if (!settings) {
    return Error{settings.error().code, path + ": " + settings.error().message,
                 settings.error().hint};
  }
  if (auto own = environment("POD_NAMESPACE"); !own.empty()) settings->namespace_name = own;
  return settings;
}

void to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int fail(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : " (" + printable(error.hint) + ")";
  to_stderr("cronlatch-operator: " + printable(error.message) + hint + "\n");
  return exit_code(error);
}

int look_before_uninstall(const EnvironmentVariable& environment) {
  auto access = kube::in_cluster(environment("KUBERNETES_SERVICE_HOST"),
                                 environment("KUBERNETES_SERVICE_PORT"));
  if (!access) return fail(access.error());
  const auto api = kube::RestApi::open(std::move(*access));
  if (!api) return fail(api.error());
  const GuardAnswer answer = guard(**api);
  to_stderr(answer.text);
  return answer.exit_code;
}

// SIGTERM and SIGINT as answers to a question instead of interruptions.
class Goodbye {
 public:
  Goodbye() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGTERM);
    ::sigaddset(&signals_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  bool said_within(Millis limit) const {
    const timespec wait{limit.count() / 1000, (limit.count() % 1000) * 1'000'000};
    return ::sigtimedwait(&signals_, nullptr, &wait) > 0;
  }

 private:
  sigset_t signals_{};
};

class Operator {
 public:
  Operator(Settings settings, const Tempo& tempo) : settings_(std::move(settings)), tempo_(tempo) {}

  Status start(const EnvironmentVariable& environment);
  void live(const Goodbye& goodbye);
  void leave(const Goodbye& goodbye);

 private:
  Status use(const Certificate& certificate);

  const Settings settings_;
  const Tempo tempo_;
  const HostClock clock_;
  const Log log_{settings_.log_format, settings_.log_level, clock_, to_stderr};
  Metrics metrics_{CRONLATCH_VERSION};
  Readiness readiness_;
  HttpServer admission_{Transport::tls, tempo_.admission,
                        admission_routes(settings_, metrics_, clock_, log_), log_};
  HttpServer plain_{Transport::plain, tempo_.plain, plain_routes(readiness_, metrics_), log_};
  std::optional<CertificateFiles> files_;
};

Status Operator::use(const Certificate& certificate) {
  if (const Status used = admission_.use(certificate); !used) return used;
  metrics_.certificate_expiry("serving", certificate.not_after);
  readiness_.certificate = true;
  return Done{};
}

Status Operator::start(const EnvironmentVariable& environment) {
  const bool in_cluster = !environment("KUBERNETES_SERVICE_HOST").empty();
  if (!in_cluster && settings_.certificate_mode == CertificateMode::own) {
    return Error{Code::config,
                 "certificate-mode: own keeps its certificate in a cluster's Secret, "
                 "and this is no pod",
                 "outside of a cluster use certificate-mode: files and certificate-dir"};
  }
  if (settings_.certificate_mode == CertificateMode::files) {
    files_.emplace(
        settings_.certificate_dir,
        [this](const Certificate& certificate) { return use(certificate); }, log_);
    files_->poll();
  }
  if (const Status plain = plain_.start(settings_.plain_address); !plain) return plain;
  if (const Status tls = admission_.start(settings_.admission_address); !tls) return tls;
  readiness_.listening = true;
  if (!in_cluster) {
    log_({Level::warn,
          "admissions_only",
          "this is no pod of a cluster: admissions are answered, nothing else is done",
          {}});
  }
  log_({Level::info,
        "listening",
        "cronlatch-operator " CRONLATCH_VERSION " is listening",
        {{"admission_port", std::to_string(admission_.port())},
         {"plain_port", std::to_string(plain_.port())},
         {"namespace", settings_.namespace_name}}});
  return Done{};
}

void Operator::live(const Goodbye& goodbye) {
  while (!goodbye.said_within(tempo_.look)) {
    if (files_) files_->poll();
  }
}

// The API server goes on using connections to a pod that is ending, and for a moment the Service
// still sends new ones: both are answered, and told to go elsewhere.
void Operator::leave(const Goodbye& goodbye) {
  readiness_.leaving = true;
  admission_.drain();
  log_({Level::info, "leaving", "told to stop: still answering, taking no new work soon", {}});
  if (goodbye.said_within(tempo_.leave)) {
    log_({Level::warn, "leaving_now", "told to stop twice: not waiting for new connections", {}});
  }
  admission_.stop(tempo_.grace);
  plain_.stop(Millis(0));
  log_({Level::info, "left", "everything that was asked is answered", {}});
}

}  // namespace

int run_operator(const std::vector<std::string>& arguments, const EnvironmentVariable& environment,
                 const Tempo& tempo) {
  const auto line = parse(arguments);
  if (!line) return fail(line.error());
  if (!line->print.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, line->print.data(), line->print.size());
    return written == static_cast<ssize_t>(line->print.size()) ? 0 : 1;
  }
  if (line->guard) return look_before_uninstall(environment);
  auto settings = settings_from(line->config, environment);
  if (!settings) return fail(settings.error());
  const Goodbye goodbye;  // before any thread: they inherit what is blocked
  Operator self(std::move(*settings), tempo);
  if (const Status started = self.start(environment); !started) return fail(started.error());
  self.live(goodbye);
  self.leave(goodbye);
  return 0;
}

}  // namespace cronlatch::op
