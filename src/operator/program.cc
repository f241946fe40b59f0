// SPDX-License-Identifier: Apache-2.0
// Wires the operator: settings, ports, certificates, the controller; then waits for a signal and
// leaves in order.
#include "operator/program.h"

#include <unistd.h>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "admission/settings.h"
#include "base/kernel_clock.h"
#include "base/log.h"
#include "base/text.h"
#include "core/outcome.h"
#include "operator/http/admission_server.h"
#include "operator/http/status_page.h"
#include "operator/lookup/image_lookup.h"
#include "operator/lookup/image_prefetcher.h"
#include "operator/metrics/exporter.h"
#include "operator/metrics/lock_stats_reader.h"
#include "operator/metrics/metrics.h"
#include "operator/metrics/process_metrics.h"
#include "operator/reconcile/controller.h"
#include "operator/store_access.h"
#include "operator/tls/certificate_files.h"
#include "registry/lookup.h"
#include "rest/rest_api.h"

namespace cronlatch::op {
namespace {

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

// SIGTERM and SIGINT as answers to a request instead of interruptions.
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

// As many more workers as may wait for registries, so that those who need none are not kept
// waiting.
WatchTiming with_room_to_wait(WatchTiming timing, const Settings& settings) {
  if (settings.lookup) timing.admission.workers += registry::LookupTiming{}.max_waiting;
  return timing;
}

class Operator {
 public:
  Operator(Settings settings, const WatchTiming& timing)
      : settings_(std::move(settings)), timing_(with_room_to_wait(timing, settings_)) {}

  Status start(const EnvironmentVariable& environment);
  void live(const Goodbye& goodbye);
  void leave(const Goodbye& goodbye);

 private:
  Status use(const Certificate& certificate);
  Status join_cluster(const EnvironmentVariable& environment);
  void read_lock_stats();
  // Outside of a cluster nobody else is there to do it.
  bool leading() const { return !controller_ || controller_->leading(); }
  std::string status() const {
    return status_page({CRONLATCH_VERSION, store_endpoint(settings_), leading(), clock_.wall()},
                       exporter_.status());
  }

  const Settings settings_;
  const WatchTiming timing_;
  const KernelClock clock_;
  const Disk files_on_disk_;
  const Log log_{settings_.log_format, settings_.log_level, clock_, to_stderr};
  Metrics metrics_{CRONLATCH_VERSION};
  Readiness readiness_;
  std::string client_ca_;
  ImageLookup images_{settings_, metrics_, clock_, log_};
  HttpServer admission_{Transport::tls, timing_.admission,
                        admission_routes(settings_, images_, metrics_, clock_, log_), log_};
  Exporter exporter_{[this] { return leading(); }, metrics_, clock_};
  std::optional<CertificateFiles> files_;
  std::unique_ptr<kube::RestApi> api_;
  std::optional<LockStatsReader> reader_;
  std::optional<Controller> controller_;  // its threads use all of the above
  std::optional<ImagePrefetcher> look_ahead_;
  HttpServer plain_{Transport::plain, timing_.plain,
                    plain_routes(readiness_, metrics_, [this] { return status(); }),
                    log_};  // last: it asks all of them
};

Status Operator::use(const Certificate& certificate) {
  if (const Status used = admission_.use(certificate, client_ca_); !used) return used;
  metrics_.certificate_expiry("serving", certificate.not_after);
  readiness_.certificate = true;
  return Done{};
}

Status Operator::join_cluster(const EnvironmentVariable& environment) {
  auto access = kube::in_cluster(environment("KUBERNETES_SERVICE_HOST"),
                                 environment("KUBERNETES_SERVICE_PORT"));
  if (!access) return access.error();
  auto api = kube::RestApi::open(std::move(*access));
  if (!api) return api.error();
  api_ = std::move(*api);
  const auto show = [this](const Certificate& certificate) {
    const Status used = use(certificate);
    if (used) return;
    log_({Level::error, "certificate_refused", used.error().message, {}, used.error().hint});
  };
  controller_.emplace(ControllerParts{settings_, *api_, metrics_, exporter_, clock_, log_,
                                      environment("POD_NAME"), show});
  if (settings_.lookup)
    look_ahead_.emplace(ImagePrefetcher::Parts{settings_, *api_, images_, clock_, log_,
                                               [this] { return leading(); },
                                               environment("POD_NAME")});
  return Done{};
}

void Operator::read_lock_stats() {
  metrics_.add_source([this](std::string& out) { exporter_.append_text(out); });
  metrics_.add_source(append_process_metrics);
  if (settings_.store.empty()) return;
  const auto access = [this]() -> Result<LockStatsReader::Opened> {
    auto read = read_store_access(settings_, files_on_disk_);
    if (!read) return read.error();
    const auto open = [spec = std::move(read->spec)]() -> Result<std::unique_ptr<LockStats>> {
      auto store = open_store(spec);
      if (!store) return store.error();
      return std::unique_ptr<LockStats>(std::move(*store));
    };
    return LockStatsReader::Opened{read->stamp, open};
  };
  reader_.emplace(LockStatsReader::Parts{
      store_endpoint(settings_), access,
      [this](LockStatsUpdate news) { exporter_.lock_stats(std::move(news)); }, metrics_, clock_,
      log_, timing_.lock_stats});
  reader_->start();
}

Status Operator::start(const EnvironmentVariable& environment) {
  const bool in_cluster = !environment("KUBERNETES_SERVICE_HOST").empty();
  if (!in_cluster && settings_.certificate_mode == CertificateMode::own) {
    return Error{Code::config,
                 "certificate-mode: own keeps its certificate in a cluster's Secret, "
                 "and this is no pod",
                 "outside of a cluster use certificate-mode: files and certificate-dir"};
  }
  if (!settings_.client_ca_file.empty()) {
    auto read = kube::read_small_file(settings_.client_ca_file);
    if (!read) return Error{Code::config, "client-ca-file: " + read.error().message};
    client_ca_ = std::move(*read);
  }
  if (settings_.certificate_mode == CertificateMode::files) {
    files_.emplace(
        settings_.certificate_dir,
        [this](const Certificate& certificate) { return use(certificate); }, log_);
    files_->poll();
  }
  if (in_cluster) {
    if (const Status joined = join_cluster(environment); !joined) return joined;
  } else {
    log_({Level::warn,
          "admissions_only",
          "this is no pod of a cluster: admissions and metrics are answered, nothing else is done",
          {}});
    metrics_.leader(true);
  }
  read_lock_stats();
  const std::string scratch = environment("TMPDIR");
  if (const Status asking = images_.start(
          {scratch.empty() ? "/tmp" : scratch, environment("SSL_CERT_FILE")}, api_.get());
      !asking)
    return asking;
  if (const Status plain = plain_.start(settings_.plain_address); !plain) return plain;
  if (const Status tls = admission_.start(settings_.admission_address); !tls) return tls;
  readiness_.listening = true;
  if (controller_) controller_->start();
  if (look_ahead_) look_ahead_->start();
  log_({Level::info,
        "listening",
        "cronlatch-operator " CRONLATCH_VERSION " is listening",
        {{"admission_port", std::to_string(admission_.port())},
         {"plain_port", std::to_string(plain_.port())},
         {"namespace", settings_.namespace_name}}});
  return Done{};
}

void Operator::live(const Goodbye& goodbye) {
  while (!goodbye.said_within(timing_.look)) {
    if (files_) files_->poll();
  }
}

// The API server goes on using connections to a pod that is ending, and for a moment the Service
// still sends new ones: both are answered, and told to go elsewhere.
void Operator::leave(const Goodbye& goodbye) {
  readiness_.leaving = true;
  admission_.drain();
  log_({Level::info, "leaving", "told to stop: still answering, taking no new work soon", {}});
  if (look_ahead_) look_ahead_->stop();
  if (controller_) controller_->stop();  // another replica can lead at once
  if (goodbye.said_within(timing_.leave)) {
    log_({Level::warn, "leaving_now", "told to stop twice: not waiting for new connections", {}});
  }
  if (reader_) reader_->stop();
  images_.stop();
  admission_.stop(timing_.grace);
  plain_.stop(Millis(0));
  log_({Level::info, "left", "everything that was asked is answered", {}});
}

}  // namespace

int run_operator(const std::vector<std::string>& arguments, const EnvironmentVariable& environment,
                 const WatchTiming& timing) {
  const auto line = parse_command_line(arguments);
  if (!line) return fail(line.error());
  if (!line->print.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, line->print.data(), line->print.size());
    return written == static_cast<ssize_t>(line->print.size()) ? 0 : 1;
  }
  auto settings = read_settings(line->config, environment);
  if (!settings) return fail(settings.error());
  const Goodbye goodbye;  // before any thread: they inherit what is blocked
  Operator self(std::move(*settings), timing);
  if (const Status started = self.start(environment); !started) return fail(started.error());
  self.live(goodbye);
  self.leave(goodbye);
  return 0;
}

}  // namespace cronlatch::op
