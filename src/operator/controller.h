// SPDX-License-Identifier: Apache-2.0
// Controller: the work of the operator besides requests. The leader copies annotations of CronJobs,
// records Events, counts outcomes, renews the certificate and copies Secrets. Every replica loads
// the current certificate. Decisions are in reconcile/decide.h; this class connects them to
// threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "kube/api.h"
#include "operator/first_lists.h"
#include "operator/metrics/exporter.h"
#include "operator/metrics/metrics.h"
#include "operator/reconcile/event_recorder.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

// All references must outlive the Controller.
struct ControllerDependencies {
  const Settings& settings;
  kube::Api& api;
  Metrics& metrics;
  Exporter& exporter;
  const Clock& clock;
  const Log& log;
  EventRecorder& events;
  std::string pod_name;  // POD_NAME: identity in the Lease
  // Called with the first certificate and after every change, on a thread of the Controller; only
  // in certificate-mode `own`.
  std::function<void(const Certificate&)> on_certificate;
  // Called by the loops "election" and "reconcile" with their name, in each round.
  std::function<void(std::string_view loop)> on_progress = [](std::string_view) {};
  // Called by each of the threads "report": before its work for an object, before and after each
  // request of it, and after the work.
  std::function<void()> on_report = [] {};
  std::function<void()> on_report_end = [] {};
  // How long the first list of a collection is awaited while the right to it is denied.
  Millis give_up_after = FirstList::kGiveUpAfter;
};

class Controller {
 public:
  explicit Controller(ControllerDependencies dependencies);
  ~Controller();  // stops
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void start();
  // Ends the work, then releases the Lease, so that another replica does not wait for its expiry.
  // Returns within the deadline of one call to the API server.
  void stop();
  bool leading() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::op
