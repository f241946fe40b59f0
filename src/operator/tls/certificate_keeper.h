// SPDX-License-Identifier: Apache-2.0
// CertificateKeeper: the certificate in a Secret (certificate-mode `own`). Every replica loads it.
// The leader creates and renews it and sets caBundle of the webhooks. certificate_plan.h decides
// the next step. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/last_error.h"
#include "base/log.h"
#include "kube/api.h"
#include "operator/tls/certificate.h"
#include "operator/tls/certificate_plan.h"

namespace cronlatch::op {

// The names of the Helm release.
struct Installation {
  std::string name, namespace_name;
};

class CertificateKeeper {
 public:
  using OnCertificate = std::function<void(const Certificate&)>;
  CertificateKeeper(Installation installation, kube::Api& api, const Clock& clock, const Log& log,
                    OnCertificate on_certificate);

  // Every replica: reads the Secret and reports a changed certificate. False while none is usable.
  // If the leader creates none in time, this replica creates it, as keep() does.
  bool load();
  // The leader: executes the steps that are due. False after an error: call it again soon.
  // `may_write` is called before every write.
  bool keep(const std::function<bool()>& may_write);

 private:
  Result<std::optional<kube::Json>> read(const std::string& path);
  std::optional<StoredCertificate> last_known(const std::optional<kube::Json>& secret) const;
  Status store(const std::optional<kube::Json>& secret, const StoredCertificate& next);
  Status trust(const kube::Json& configuration, const std::string& bundle);
  Result<bool> step(const std::function<bool()>& may_write);  // true: no step is left
  void observe_trust(bool trusted, const std::string& bundle);
  bool fail(const Error& error);
  bool create_first();

  const Installation installation_;
  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  const OnCertificate on_certificate_;
  std::optional<Certificate> current_;
  std::optional<TimePoint> waiting_since_;  // for the first certificate
  std::string trusted_bundle_;
  std::optional<TimePoint> trusted_since_;
  LastError last_error_;
};

}  // namespace cronlatch::op
