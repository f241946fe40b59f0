// SPDX-License-Identifier: Apache-2.0
// Issues X.509 v3 certificates with OpenSSL.
#include "operator/tls/certificate_issue.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "operator/tls/openssl.h"

namespace cronlatch::op {
namespace {

constexpr Seconds kClockSkew{3'600};  // the clock of a node may be behind
constexpr std::int64_t kMicros = 1'000'000;

using Number = std::unique_ptr<BIGNUM, Deleter<BN_free>>;

std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* cert) {
  const Bio out(BIO_new(BIO_s_mem()));
  return PEM_write_bio_X509(out.get(), cert) == 1 ? text_of(out.get()) : "";
}

std::string pem_of(EVP_PKEY* key) {
  const Bio out(BIO_new(BIO_s_mem()));
  const int ok = PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return ok == 1 ? text_of(out.get()) : "";
}

bool add_extension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  const bool ok = extension != nullptr && X509_add_ext(cert, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return ok;
}

bool set_time(ASN1_TIME* field, WallTime t) {
  return ASN1_TIME_set(field, static_cast<time_t>(t.us / kMicros)) != nullptr;
}

// A certificate without extensions and signature.
Cert unsigned_certificate(EVP_PKEY* key, const std::string& common_name, WallTime now,
                          Seconds life) {
  Cert cert(X509_new());
  const Number serial(BN_new());
  X509_NAME* name = X509_get_subject_name(cert.get());
  const bool ok =
      X509_set_version(cert.get(), X509_VERSION_3) == 1 &&
      BN_rand(serial.get(), 120, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(cert.get())) != nullptr &&
      set_time(X509_getm_notBefore(cert.get()), {now.us - kClockSkew.count() * kMicros}) &&
      set_time(X509_getm_notAfter(cert.get()), {now.us + life.count() * kMicros}) &&
      X509_set_pubkey(cert.get(), key) == 1 &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                 -1, 0) == 1;
  return ok ? std::move(cert) : nullptr;
}

Result<IssuedCertificate> as_pem(X509* cert, EVP_PKEY* key, bool ok, const char* what) {
  IssuedCertificate issued;
  if (ok) issued = {pem_of(cert), pem_of(key)};
  if (issued.cert_pem.empty() || issued.key_pem.empty())
    return tls_error(std::string("cannot create ") + what);
  return issued;
}

bool names_match(X509* cert, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (X509_check_host(cert, name.c_str(), name.size(), X509_CHECK_FLAG_NO_WILDCARDS, nullptr) !=
        1)
      return false;
  return true;
}

}  // namespace

Result<IssuedCertificate> issue_ca(WallTime now, const std::string& purpose) {
  const Key key(EVP_EC_gen("P-256"));
  // The name contains the time, so that the CAs of a bundle have different names.
  const Cert cert =
      unsigned_certificate(key.get(), purpose + " CA " + std::to_string(now.us), now, kCaLife);
  X509* x = cert.get();
  const bool ok = cert != nullptr && X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
                  add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                  add_extension(x, x, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                  add_extension(x, x, NID_subject_key_identifier, "hash") &&
                  X509_sign(x, key.get(), EVP_sha256()) > 0;
  return as_pem(x, key.get(), ok, "a CA");
}

Result<IssuedCertificate> issue_leaf(const IssuedCertificate& ca,
                                     const std::vector<std::string>& dns_names, WallTime now,
                                     const std::string& purpose) {
  const Cert issuer = next_cert(memory_bio(ca.cert_pem).get());
  const Key signing = next_key(memory_bio(ca.key_pem).get());
  if (issuer == nullptr || signing == nullptr || dns_names.empty())
    return tls_error("the CA cannot be read");
  std::string alternatives;
  for (const std::string& name : dns_names)
    alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + name;
  const Key key(EVP_EC_gen("P-256"));
  const Cert cert = unsigned_certificate(key.get(), purpose, now, kLeafLife);
  X509* x = cert.get();
  const bool ok = cert != nullptr &&
                  X509_set_issuer_name(x, X509_get_subject_name(issuer.get())) == 1 &&
                  add_extension(x, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                  add_extension(x, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
                  add_extension(x, issuer.get(), NID_ext_key_usage, "serverAuth") &&
                  add_extension(x, issuer.get(), NID_subject_alt_name, alternatives) &&
                  add_extension(x, issuer.get(), NID_authority_key_identifier, "keyid") &&
                  X509_sign(x, signing.get(), EVP_sha256()) > 0;
  return as_pem(x, key.get(), ok, "a certificate");
}

Result<CertFacts> inspect(const std::string& cert_pem, const CertExpectations& expected) {
  const Cert cert = next_cert(memory_bio(cert_pem).get());
  if (cert == nullptr) return tls_error("not a certificate");
  CertFacts facts{.not_before = wall_time(X509_get0_notBefore(cert.get())),
                  .not_after = wall_time(X509_get0_notAfter(cert.get())),
                  .names_match = names_match(cert.get(), expected.dns_names),
                  .is_ca = X509_check_ca(cert.get()) == 1};
  if (const Key key = next_key(memory_bio(expected.key_pem).get()); key != nullptr)
    facts.key_matches = X509_check_private_key(cert.get(), key.get()) == 1;
  if (const Cert ca = next_cert(memory_bio(expected.ca_pem).get()); ca != nullptr)
    facts.signed_by_ca = X509_verify(cert.get(), X509_get0_pubkey(ca.get())) == 1;
  ERR_clear_error();
  return facts;
}

std::vector<std::string> split_bundle(const std::string& bundle_pem) {
  std::vector<std::string> out;
  const Bio bundle = memory_bio(bundle_pem);
  for (Cert cert; (cert = next_cert(bundle.get())) != nullptr;) out.push_back(pem_of(cert.get()));
  ERR_clear_error();
  return out;
}

std::string signer_in(const std::string& bundle_pem, const std::string& cert_pem) {
  for (const std::string& ca : split_bundle(bundle_pem))
    if (const auto facts = inspect(cert_pem, {.ca_pem = ca}); facts && facts->signed_by_ca)
      return ca;
  return "";
}

}  // namespace cronlatch::op
