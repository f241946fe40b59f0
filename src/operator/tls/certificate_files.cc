// SPDX-License-Identifier: Apache-2.0
// Compares contents, not times: the kubelet swaps a symbolic link, and three small files cost
// nothing to read.
#include "operator/tls/certificate_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/rfc3339.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kMost = 1024 * 1024;  // a chain and a bundle are some kB

Result<std::string> contents(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || !file.is_open()) {
    return Error{Code::config,
                 "cannot read " + path + ": " + std::strerror(errno != 0 ? errno : EIO)};
  }
  if (text.size() > kMost) return Error{Code::config, path + " is larger than 1 MiB"};
  return text;
}

}  // namespace

CertificateFiles::CertificateFiles(std::string dir, Use use, const Log& log)
    : dir_(std::move(dir)), use_(std::move(use)), log_(log) {}

Result<Certificate> CertificateFiles::read() const {
  auto chain = contents(dir_ + "/tls.crt");
  if (!chain) return chain.error();
  auto key = contents(dir_ + "/tls.key");
  if (!key) return key.error();
  auto ca = contents(dir_ + "/ca.crt");  // for people and for the API server; we do not need it
  return make_certificate(std::move(*chain), std::move(*key), ca ? std::move(*ca) : "");
}

void CertificateFiles::say(const Error& trouble) {
  if (trouble.message == last_trouble_) return;
  last_trouble_ = trouble.message;
  const bool serving = !current_.chain_pem.empty();
  log_({serving ? Level::warn : Level::error,
        "certificate_refused",
        trouble.message,
        {{"dir", dir_}, {"serving", serving ? "the one before" : "nothing"}},
        trouble.hint});
}

void CertificateFiles::poll() {
  auto found = read();
  if (!found) return say(found.error());
  if (*found == current_) {
    last_trouble_.clear();
    return;
  }
  if (const Status used = use_(*found); !used) return say(used.error());
  current_ = std::move(*found);
  last_trouble_.clear();
  log_({Level::info,
        "certificate_loaded",
        "serving a new certificate",
        {{"dir", dir_}, {"not_after", rfc3339(current_.not_after)}}});
}

}  // namespace cronlatch::op
