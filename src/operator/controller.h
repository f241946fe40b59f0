// SPDX-License-Identifier: Apache-2.0
// Controller: everything the operator does by itself. One replica leads and mirrors CronJobs, tells
// Events, counts outcomes, renews the certificate and copies Secrets; every replica shows the
// certificate of the day. Decisions are in decide.h and its neighbours; this wires them to threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "kube/api.h"
#include "operator/metrics/exporter.h"
#include "operator/metrics/metrics.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

// All of it outlives the Controller.
struct ControllerParts {
  const Settings& settings;
  kube::Api& api;
  Metrics& metrics;
  Exporter& exporter;
  const Clock& clock;
  const Log& log;
  std::string pod_name;  // POD_NAME: who we are in the Lease and in Events
  // Called with the first certificate and after every change, on a thread of ours; mode `own` only.
  std::function<void(const Certificate&)> on_certificate;
};

class Controller {
 public:
  explicit Controller(ControllerParts parts);
  ~Controller();  // stops
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void start();
  // Ends the work first and gives the leadership away then, so that nobody waits for our lease.
  // Returns within the deadline of one call to the API server.
  void stop();
  bool leading() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::op
