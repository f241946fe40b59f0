// SPDX-License-Identifier: Apache-2.0
// CertificateFiles: the certificate that somebody else renews in a directory (certificate-mode
// `files`). Read again and again; a pair that does not match, as while it is being replaced,
// changes nothing.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

class CertificateFiles {
 public:
  using Use = std::function<Status(const Certificate&)>;
  // `dir` holds tls.crt, tls.key and, maybe, ca.crt. `log` outlives the object.
  CertificateFiles(std::string dir, Use use, const Log& log);
  // Reads; calls `use` when the files hold another good pair than before. One thread at a time.
  void poll();

 private:
  Result<Certificate> read() const;
  void say(const Error& trouble);

  std::string dir_;
  Use use_;
  const Log& log_;
  Certificate current_;
  std::string last_trouble_;  // said once, not at each look
};

}  // namespace cronlatch::op
