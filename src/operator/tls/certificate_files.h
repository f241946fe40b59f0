// SPDX-License-Identifier: Apache-2.0
// CertificateFiles: a certificate that another program renews in a directory (certificate-mode
// `files`). A pair that does not match, as during a replacement, is not used.
#pragma once

#include <functional>
#include <string>

#include "base/last_error.h"
#include "base/log.h"
#include "base/result.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

class CertificateFiles {
 public:
  using OnCertificate = std::function<Status(const Certificate&)>;
  // `dir` contains tls.crt, tls.key and optionally ca.crt. `log` must outlive the object.
  CertificateFiles(std::string dir, OnCertificate on_certificate, const Log& log);
  // Reads the files; calls `on_certificate` when they contain a new valid pair. One thread at a
  // time.
  void poll();

 private:
  Result<Certificate> read() const;
  void report(const Error& error);

  std::string dir_;
  OnCertificate on_certificate_;
  const Log& log_;
  Certificate current_;
  LastError last_error_;
};

}  // namespace cronlatch::op
