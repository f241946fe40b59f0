// SPDX-License-Identifier: Apache-2.0
// Operator: creates and connects all parts of the program: ports, certificates, controller,
// lookups, lock statistics.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "admission/settings.h"
#include "base/kernel_clock.h"
#include "base/log.h"
#include "base/result.h"
#include "config/files.h"
#include "operator/access/access_control.h"
#include "operator/admission_clients.h"
#include "operator/command_line.h"
#include "operator/controller.h"
#include "operator/endpoints.h"
#include "operator/http/http_server.h"
#include "operator/lookup/image_lookup.h"
#include "operator/lookup/image_prefetcher.h"
#include "operator/metrics/exporter.h"
#include "operator/metrics/lock_stats_reader.h"
#include "operator/metrics/metrics.h"
#include "operator/node_watch.h"
#include "operator/other_clusters.h"
#include "operator/server_timeouts.h"
#include "operator/store_switch_event.h"
#include "operator/termination_signal.h"
#include "operator/tls/certificate_files.h"
#include "rest/rest_api.h"

namespace cronlatch::op {

class Operator {
 public:
  Operator(Settings settings, const ServerTimeouts& timeouts, Log::Sink log_sink);

  Status start(const EnvironmentVariable& environment);
  // Returns when the signal arrived.
  void serve(const TerminationSignal& signal);
  // A second signal ends the drain phase at once.
  void shutdown(const TerminationSignal& signal);

 private:
  Status check_environment(bool in_cluster) const;
  Status start_certificates();
  Status connect_to_cluster(const EnvironmentVariable& environment);
  void name_cluster();
  void prepare_protected_pages();
  void start_lock_stats_reader();
  Status start_image_lookup(const EnvironmentVariable& environment);
  Status listen();
  Status install(const Certificate& certificate);
  // Outside of a cluster there is no other replica.
  bool leading() const { return !controller_ || controller_->leading(); }
  std::string status() const;
  Pages pages();
  std::optional<Pages> plain_pages();
  LookupReports lookup_reports();
  IoReports io_reports();
  void start_node_watch();
  const Settings& admission_settings() const;

  Settings settings_;  // start() adds the name of the cluster; constant afterwards
  const ServerTimeouts timeouts_;
  const KernelClock clock_;
  const HostFiles disk_;
  const Log log_;
  Metrics metrics_;
  Readiness readiness_;
  Liveness liveness_;
  std::string client_ca_;
  AdmissionClients clients_;
  ImageLookup images_;
  HttpServer admission_;
  Exporter exporter_;
  OtherClustersNotice other_clusters_;  // thread of the reader
  std::optional<CertificateFiles> files_;
  std::unique_ptr<kube::RestApi> api_;
  // With `injection: auto`: settings_ for a cluster that is proven to support image volumes.
  std::optional<Settings> settings_with_image_volumes_;
  std::optional<NodeWatch> node_watch_;
  std::optional<StoreSwitchEvent> switch_event_;  // in a cluster; thread of the reader
  std::optional<LockStatsReader> reader_;
  std::optional<EventRecorder> events_;
  std::optional<Controller> controller_;  // its threads use all members above
  std::optional<ImagePrefetcher> image_prefetcher_;
  std::optional<AccessControl> access_;    // with metrics-auth: token
  HttpServer plain_;                       // its handlers use all members above
  std::unique_ptr<HttpServer> protected_;  // with metrics-auth: token; as plain_
};

}  // namespace cronlatch::op
