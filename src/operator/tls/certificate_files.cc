// SPDX-License-Identifier: Apache-2.0
// Compares contents, not times: the kubelet replaces a symbolic link, and the files are small.
#include "operator/tls/certificate_files.h"

#include <utility>

#include "base/rfc3339.h"
#include "kube/access.h"

namespace cronlatch::op {
CertificateFiles::CertificateFiles(std::string dir, OnCertificate on_certificate, const Log& log)
    : dir_(std::move(dir)), on_certificate_(std::move(on_certificate)), log_(log) {}

Result<Certificate> CertificateFiles::read() const {
  auto chain = kube::read_small_file(dir_ + "/tls.crt");
  if (!chain) return chain.error();
  auto key = kube::read_small_file(dir_ + "/tls.key");
  if (!key) return key.error();
  auto ca = kube::read_small_file(dir_ + "/ca.crt");  // optional: the server does not use it
  return parse_certificate(std::move(*chain), std::move(*key), ca ? std::move(*ca) : "");
}

void CertificateFiles::report(const Error& error) {
  if (!last_error_.set(error.message)) return;
  const bool serving = !current_.chain_pem.empty();
  log_({serving ? Level::warn : Level::error,
        "certificate_refused",
        error.message,
        {{"dir", dir_}, {"serving", serving ? "previous" : "none"}},
        error.hint});
}

void CertificateFiles::poll() {
  auto found = read();
  if (!found) return report(found.error());
  if (*found == current_) {
    last_error_.clear();
    return;
  }
  if (const Status used = on_certificate_(*found); !used) return report(used.error());
  current_ = std::move(*found);
  last_error_.clear();
  log_({Level::info,
        "certificate_loaded",
        "serving a new certificate",
        {{"dir", dir_}, {"not_after", rfc3339(current_.not_after)}}});
}

}  // namespace cronlatch::op
