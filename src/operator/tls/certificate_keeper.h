// SPDX-License-Identifier: Apache-2.0
// CertificateKeeper: the certificate in our Secret, mode `own`. Every replica loads it; the leader
// makes it, renews it and tells the webhooks whom to trust. What comes next is certificate_plan.h's
// to decide. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "operator/tls/certificate.h"
#include "operator/tls/certificate_plan.h"

namespace cronlatch::op {

class CertificateKeeper {
 public:
  using Use = std::function<void(const Certificate&)>;
  CertificateKeeper(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log,
                    Use use);

  // Any replica: hands the stored certificate over when it is another than the last. False while
  // there is none that can be shown; when nobody makes one, it is made here, as keep() does.
  bool load();
  // The leader: carries out what is due. False when something could not be done: try again soon.
  // `may_write` is asked before every write.
  bool keep(const std::function<bool()>& may_write);

 private:
  Result<std::optional<kube::Json>> read(const std::string& path);
  Status store(const std::optional<kube::Json>& secret, const KeptCertificate& next);
  Status trust(const kube::Json& configuration, const std::string& bundle);
  Result<bool> step(const std::function<bool()>& may_write);  // true: nothing is left to do
  void observe_trust(bool trusted, const std::string& bundle);
  bool fail(const Error& error);
  bool make_first();

  const Settings& settings_;
  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  const Use use_;
  std::optional<Certificate> shown_;
  std::optional<TimePoint> waiting_since_;  // for somebody to make the first one
  std::string trusted_bundle_;
  std::optional<TimePoint> trusted_since_;
  std::string last_trouble_;
};

}  // namespace cronlatch::op
