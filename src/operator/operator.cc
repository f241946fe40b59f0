// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

#include <utility>

#include "kube/cluster_uid.h"
#include "operator/metrics/process_metrics.h"
#include "operator/status_page.h"
#include "operator/store_access.h"
#include "registry/lookup.h"

namespace cronlatch::op {
namespace {

// One more worker for each admission that may wait for a registry, so that other admissions do not
// wait behind it.
ServerTimeouts with_lookup_workers(ServerTimeouts timeouts, const Settings& settings) {
  if (settings.lookup) timeouts.admission.workers += registry::LookupTiming{}.max_waiting;
  return timeouts;
}

ExporterOptions exporter_options(const Settings& settings) {
  ExporterOptions options;
  if (settings.lock_histograms) options.histograms = Histograms::written;
  return options;
}

}  // namespace

Operator::Operator(Settings settings, const ServerTimeouts& timeouts, Log::Sink log_sink)
    : settings_(std::move(settings)),
      timeouts_(with_lookup_workers(timeouts, settings_)),
      log_(settings_.log_format, settings_.log_level, clock_, std::move(log_sink)),
      metrics_(CRONLATCH_VERSION),
      liveness_(clock_, log_, timeouts_.progress),
      clients_(log_),
      images_(settings_, lookup_reports(), clock_, log_),
      admission_(
          Transport::tls, timeouts_.admission,
          watched(liveness_, "admission",
                  admission_endpoints([this]() -> const Settings& { return admission_settings(); },
                                      images_, metrics_, clients_, clock_, log_)),
          log_, io_reports()),
      exporter_([this] { return leading(); }, metrics_, clock_, exporter_options(settings_)),
      other_clusters_(log_),
      plain_(Transport::plain, timeouts_.plain,
             watched(liveness_, "pages", plain_endpoints(readiness_, liveness_, plain_pages())),
             log_, io_reports()) {}

// A thread that is stuck, for example in a handshake, is not noticed by any request that another
// one answers.
IoReports Operator::io_reports() {
  static constexpr Millis kInterval{10'000};
  return {.round = [this] { liveness_.begin("connections", kInterval); },
          .ended = [this] { liveness_.end(); },
          .interval = kInterval};
}

Pages Operator::pages() {
  return {metrics_, [this] { return status(); }};
}

std::optional<Pages> Operator::plain_pages() {
  if (settings_.requires_token()) return std::nullopt;
  return pages();
}

std::string Operator::status() const {
  return status_page({CRONLATCH_VERSION, store_endpoint(settings_), leading(), clock_.wall(),
                      settings_.cluster_name},
                     exporter_.status());
}

LookupReports Operator::lookup_reports() {
  return {.answered = [this](std::string_view result) { metrics_.entrypoint_answered(result); },
          .looked_up = [this](Micros took) { metrics_.entrypoint_lookup_took(took); },
          .requested =
              [this](const std::string& registry, std::string_view kind, std::string_view result) {
                metrics_.count(kRegistryRequests, {{"registry", registry},
                                                   {"kind", std::string(kind)},
                                                   {"result", std::string(result)}});
              },
          .began = [this] { liveness_.begin("lookup", settings_.lookup_timeout); },
          .ended = [this] { liveness_.end(); }};
}

Status Operator::install(const Certificate& certificate) {
  if (Status installed = admission_.set_certificate(certificate, client_ca_); !installed)
    return installed;
  // Prometheus has no client certificate of that CA.
  if (protected_)
    if (Status installed = protected_->set_certificate(certificate); !installed) return installed;
  metrics_.certificate_expiry("serving", certificate.not_after);
  metrics_.certificate_expiry("ca", certificate.ca_not_after);
  readiness_.certificate = true;
  return Done{};
}

Status Operator::check_environment(bool in_cluster) const {
  if (!in_cluster && settings_.requires_token())
    return Error{Code::config,
                 "metrics-auth: token requires the API server for each token, and this is no pod",
                 "outside of a cluster use metrics-auth: none"};
  if (in_cluster || settings_.certificate_mode != CertificateMode::own) return Done{};
  return Error{Code::config,
               "certificate-mode: own stores its certificate in a Secret of the cluster, "
               "and this is no pod",
               "outside of a cluster use certificate-mode: files and certificate-dir"};
}

Status Operator::start_certificates() {
  if (!settings_.client_ca_file.empty()) {
    auto read = kube::read_small_file(settings_.client_ca_file);
    if (!read) return Error{Code::config, "client-ca-file: " + read.error().message};
    client_ca_ = std::move(*read);
  }
  if (settings_.certificate_mode == CertificateMode::files) {
    files_.emplace(
        settings_.certificate_dir,
        [this](const Certificate& certificate) { return install(certificate); }, log_);
    files_->poll();
  }
  return Done{};
}

Status Operator::connect_to_cluster(const EnvironmentVariable& environment) {
  auto access = kube::in_cluster_access(environment("KUBERNETES_SERVICE_HOST"),
                                        environment("KUBERNETES_SERVICE_PORT"));
  if (!access) return access.error();
  auto api = kube::RestApi::open(*access);
  if (!api) return api.error();
  api_ = std::move(*api);
  name_cluster();
  const auto on_certificate = [this](const Certificate& certificate) {
    const Status installed = install(certificate);
    if (installed) return;
    log_({Level::error,
          "certificate_refused",
          installed.error().message,
          {},
          installed.error().hint});
  };
  events_.emplace(
      EventRecorder::Dependencies{settings_, metrics_, clock_, log_, environment("POD_NAME")});
  const kube::ObjectRef pod{"v1", "Pod", settings_.namespace_name, environment("POD_NAME"),
                            environment("POD_UID")};
  switch_event_.emplace(StoreSwitchEvent::Dependencies{
      pod, [this] { return leading(); },
      [this](const kube::Event& event) { return events_->record(*api_, event); }});
  controller_.emplace(ControllerDependencies{
      settings_, *api_, metrics_, exporter_, clock_, log_, *events_, environment("POD_NAME"),
      on_certificate, [this](std::string_view loop) { liveness_.progress(loop); },
      [this] { liveness_.begin("report", Millis(0)); }, [this] { liveness_.end(); }});
  if (settings_.lookup)
    image_prefetcher_.emplace(ImagePrefetcher::Dependencies{
        settings_, *api_, images_, clock_, log_, [this] { return leading(); },
        [this](const kube::Event& event) {
          return events_->record(*api_, event) != ApplyResult::retry;
        },
        [this] { liveness_.progress("prefetch"); }});
  return Done{};
}

// Without a name, the holders of this cluster have none, and other clusters are not reported.
void Operator::name_cluster() {
  if (!settings_.cluster_name.empty()) return;
  auto uid = kube::short_cluster_uid(*api_);
  if (uid) {
    settings_.cluster_name = std::move(*uid);
    return;
  }
  log_({Level::warn,
        "cluster_unknown",
        "cannot read the UID of the namespace kube-system: " + uid.error().message,
        {},
        "set the chart value clusterName"});
}

void Operator::prepare_protected_pages() {
  if (!settings_.requires_token()) return;
  access_.emplace(*api_, clock_, log_);
  protected_ = std::make_unique<HttpServer>(
      Transport::tls, timeouts_.pages,
      watched(liveness_, "pages", protected_endpoints(pages(), *access_)), log_, io_reports());
}

void Operator::start_lock_stats_reader() {
  if (settings_.store.empty()) return;
  if (const auto warning = store_warning(settings_)) log_(*warning);
  const auto access = [this]() -> Result<LockStatsReader::Opened> {
    auto read = read_store_access(settings_, disk_);
    if (!read) return read.error();
    const auto open = [spec = std::move(read->spec)]() -> Result<std::unique_ptr<LockStats>> {
      auto store = open_store(spec);
      if (!store) return store.error();
      return std::unique_ptr<LockStats>(std::move(*store));
    };
    return LockStatsReader::Opened{read->stamp, open};
  };
  reader_.emplace(LockStatsReader::Dependencies{
      store_endpoint(settings_), access,
      [this](LockStatsUpdate update) {
        other_clusters_.update(update.locks, settings_.cluster_name);
        if (switch_event_) switch_event_->update(update.switched);
        exporter_.set_lock_stats(std::move(update));
      },
      metrics_, clock_, log_, timeouts_.lock_stats, [this] { liveness_.progress("lock-stats"); }});
  reader_->start();
}

Status Operator::start_image_lookup(const EnvironmentVariable& environment) {
  const std::string scratch = environment("TMPDIR");
  return images_.start({.scratch = scratch.empty() ? "/tmp" : scratch,
                        .system_cas = environment("SSL_CERT_FILE"),
                        .https_proxy = environment("HTTPS_PROXY"),
                        .no_proxy = environment("NO_PROXY")},
                       api_.get());
}

void Operator::start_node_watch() {
  if (settings_.injection != InjectionMode::automatic || !api_) return;
  settings_with_image_volumes_ = settings_;
  settings_with_image_volumes_->has_proven_image_volumes = true;
  node_watch_.emplace(*api_, clock_, log_);
  node_watch_->start();
}

const Settings& Operator::admission_settings() const {
  return node_watch_ && node_watch_->has_image_volumes() ? *settings_with_image_volumes_
                                                         : settings_;
}

Status Operator::listen() {
  if (Status plain = plain_.start(settings_.plain_address); !plain) return plain;
  if (Status tls = admission_.start(settings_.admission_address); !tls) return tls;
  if (protected_)
    if (Status pages = protected_->start(settings_.metrics_address); !pages) return pages;
  readiness_.listening = true;
  return Done{};
}

Status Operator::start(const EnvironmentVariable& environment) {
  const bool in_cluster = !environment("KUBERNETES_SERVICE_HOST").empty();
  if (Status checked = check_environment(in_cluster); !checked) return checked;
  if (in_cluster) {
    if (Status connected = connect_to_cluster(environment); !connected) return connected;
  } else {
    log_({Level::warn,
          "admissions_only",
          "this is no pod of a cluster: only admission reviews and metrics are served",
          {}});
    metrics_.leader(true);
  }
  prepare_protected_pages();
  if (Status started = start_certificates(); !started) return started;
  metrics_.add_source([this](std::string& out) { exporter_.append_text(out); });
  metrics_.add_source(append_process_metrics);
  start_lock_stats_reader();
  if (Status started = start_image_lookup(environment); !started) return started;
  start_node_watch();
  if (Status listening = listen(); !listening) return listening;
  if (controller_) controller_->start();
  if (image_prefetcher_) image_prefetcher_->start();
  log_({Level::info,
        "listening",
        "cronlatch-operator " CRONLATCH_VERSION " is listening",
        {{"admission_port", std::to_string(admission_.port())},
         {"plain_port", std::to_string(plain_.port())},
         {"metrics_port", std::to_string((protected_ ? *protected_ : plain_).port())},
         {"namespace", settings_.namespace_name}}});
  return Done{};
}

void Operator::serve(const TerminationSignal& signal) {
  while (!signal.received_within(timeouts_.certificate_poll)) {
    liveness_.progress("main");
    if (files_) files_->poll();
  }
}

// The API server continues to use its connections to a terminating pod, and for a short time the
// Service still routes new ones to it. Both are served; every response has `Connection: close`.
void Operator::shutdown(const TerminationSignal& signal) {
  readiness_.shutting_down = true;
  admission_.drain();
  log_({Level::info, "leaving", "received a termination signal; draining connections", {}});
  if (image_prefetcher_) image_prefetcher_->stop();
  if (node_watch_) node_watch_->stop();
  if (controller_) controller_->stop();  // releases the Lease: another replica can lead at once
  if (signal.received_within(timeouts_.drain)) {
    log_({Level::warn,
          "leaving_now",
          "received a second termination signal; not waiting for new connections",
          {}});
  }
  if (reader_) reader_->stop();
  images_.stop();
  admission_.stop(timeouts_.grace);
  if (protected_) protected_->stop(Millis(0));
  plain_.stop(Millis(0));
  log_({Level::info, "left", "stopped; no request is open", {}});
}

}  // namespace cronlatch::op
