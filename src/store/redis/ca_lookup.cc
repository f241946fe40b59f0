// SPDX-License-Identifier: Apache-2.0
// An X509_LOOKUP method on PEM text in memory. Found certificates are added to the store, as in
// OpenSSL's directory lookup: the store owns them, and its later searches (several CAs of one name)
// include them.
#include "store/redis/ca_lookup.h"

#include <fcntl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"
#include "store/redis/address.h"
#include "store/redis/pem.h"

namespace cronlatch::redis {
namespace {

constexpr std::size_t kMaxFile = 16 << 20;
constexpr std::array<const char*, 4> kSystemBundles = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch, distroless
    "/etc/ssl/cert.pem",                   // Alpine, the BSDs
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL, older SUSE
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later
};

struct CertDeleter {
  void operator()(X509* cert) const { X509_free(cert); }
};
using Cert = std::unique_ptr<X509, CertDeleter>;

Cert parse(const std::string& der, OSSL_LIB_CTX* library) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  X509* cert = X509_new_ex(library, nullptr);
  return Cert(d2i_X509(&cert, &bytes, static_cast<long>(der.size())));
}

std::string der_of(const X509_NAME* name) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (X509_NAME_get0_der(name, &bytes, &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

// errno is that of the failing call.
bool read_file(const char* path, std::string& text) {
  const Fd file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return false;
  char block[16'384];
  while (text.size() < kMaxFile) {
    const ssize_t got = read(file.get(), block, sizeof block);
    if (got < 0) return false;
    if (got == 0) return true;
    text.append(block, static_cast<std::size_t>(got));
  }
  errno = EFBIG;
  return false;
}

}  // namespace

CaLookup::CaLookup(std::string pem)
    : pem_(std::move(pem)),
      method_(X509_LOOKUP_meth_new("certificates on demand"), X509_LOOKUP_meth_free) {
  X509_LOOKUP_meth_set_get_by_subject(method_.get(), by_subject);
}

CaLookup::~CaLookup() = default;

Result<std::unique_ptr<CaLookup>> CaLookup::from_file(const std::string& path) {
  std::string pem;
  if (!read_file(path.c_str(), pem))
    return Error{Code::config, "tls-ca: cannot read " + path + ": " + std::strerror(errno),
                 errno_hint(errno, "set tls-ca to a file with CA certificates in PEM format")};
  if (!PemCertificates(pem).next())
    return Error{Code::config, "tls-ca: " + path + " contains no certificate",
                 "set tls-ca to a file with CA certificates in PEM format"};
  return std::unique_ptr<CaLookup>(new CaLookup(std::move(pem)));
}

Result<std::unique_ptr<CaLookup>> CaLookup::from_system() {
  for (const char* path : kSystemBundles) {
    std::string pem;
    errno = 0;
    if (read_file(path, pem) && PemCertificates(pem).next())
      return std::unique_ptr<CaLookup>(new CaLookup(std::move(pem)));
    if (pem.empty() && is_descriptor_limit(errno))
      return Error{Code::unreachable,
                   std::string("cannot read the CA certificates of this system, ") + path + ": " +
                       std::strerror(errno),
                   errno_hint(errno, "")};
  }
  return Error{Code::config,
               "this system has no CA certificates to verify the server's certificate",
               "set tls-ca, or put ca.crt into credentials-dir"};
}

std::vector<std::string> CaLookup::paths(const std::string& ca) {
  if (!ca.empty()) return {ca};
  return {kSystemBundles.begin(), kSystemBundles.end()};
}

void CaLookup::attach(X509_STORE* store, OSSL_LIB_CTX* library) {
  library_ = library;
  X509_LOOKUP* lookup = X509_STORE_add_lookup(store, method_.get());
  X509_LOOKUP_set_method_data(lookup, this);
}

int CaLookup::by_subject(X509_LOOKUP* lookup, X509_LOOKUP_TYPE type, const X509_NAME* name,
                         X509_OBJECT* found) {
  if (type != X509_LU_X509) return 0;
  auto* self = static_cast<CaLookup*>(X509_LOOKUP_get_method_data(lookup));
  X509* cert = self->add_matching(X509_LOOKUP_get_store(lookup), name);
  if (cert == nullptr || X509_OBJECT_set1_X509(found, cert) != 1) return 0;
  // OpenSSL takes its own reference for the caller, so the one of set1 is released. The store keeps
  // `cert`.
  X509_free(cert);
  return 1;
}

X509* CaLookup::add_matching(X509_STORE* store, const X509_NAME* name) {
  const std::string wanted = der_of(name);
  X509* first = nullptr;
  const auto consider = [&](const std::string& der) {
    const Cert cert = parse(der, library_);
    if (!cert || X509_NAME_cmp(X509_get_subject_name(cert.get()), name) != 0) return;
    if (X509_STORE_add_cert(store, cert.get()) == 1 && first == nullptr) first = cert.get();
  };
  PemCertificates quick(pem_);
  while (const auto der = quick.next())
    if (der->find(wanted) != std::string::npos) consider(*der);
  if (first != nullptr) return first;
  // A name can have two encodings, which only parsing can compare. This is rare and slow, so it is
  // tried after the fast search failed.
  PemCertificates slow(pem_);
  while (const auto der = slow.next()) consider(*der);
  return first;
}

}  // namespace cronlatch::redis
