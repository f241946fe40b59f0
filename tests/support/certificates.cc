// SPDX-License-Identifier: Apache-2.0
// Issues test certificates with OpenSSL's library: faster than the command line, and independent of
// any openssl.cnf.
#include "support/certificates.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace cronlatch::testing {
namespace {

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Freer<X509_free>>;
using File = std::unique_ptr<FILE, Freer<fclose>>;

constexpr long kDay = 86'400;
constexpr const char* kRightNames =
    "DNS:localhost,DNS:redis.test,DNS:registry.test,IP:127.0.0.1,IP:::1";

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "cannot create the test certificates: %s\n", what);
  std::abort();
}

struct Wanted {
  const char* common_name;
  const char* alt_names = nullptr;  // null: not for a server
  bool is_ca = false;
  long from = -kDay;  // seconds from now
  long until = 30 * kDay;
};

struct Issued {
  Key key;
  Cert cert;
};

void extend(X509* cert, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, cert, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  check(extension != nullptr && X509_add_ext(cert, extension, -1) == 1, value);
  X509_EXTENSION_free(extension);
}

Issued issue(const Wanted& wanted, const Issued* issuer, Key key) {
  Cert cert(X509_new());
  X509_set_version(cert.get(), X509_VERSION_3);
  BIGNUM* serial = BN_new();
  BN_rand(serial, 64, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY);
  BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert.get()));
  BN_free(serial);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), wanted.from);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), wanted.until);
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME* name = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(wanted.common_name), -1, -1, 0);
  const Issued* signer = issuer;
  X509_set_issuer_name(cert.get(),
                       signer == nullptr ? name : X509_get_subject_name(signer->cert.get()));
  extend(cert.get(), NID_basic_constraints, wanted.is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (wanted.is_ca) extend(cert.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  if (wanted.alt_names != nullptr) extend(cert.get(), NID_subject_alt_name, wanted.alt_names);
  EVP_PKEY* signing = signer == nullptr ? key.get() : signer->key.get();
  check(X509_sign(cert.get(), signing, EVP_sha256()) > 0, wanted.common_name);
  return {std::move(key), std::move(cert)};
}

Issued issue(const Wanted& wanted, const Issued* issuer) {
  return issue(wanted, issuer, Key(EVP_EC_gen("P-256")));
}

void append_cert(const std::string& path, const Issued& issued) {
  const File file(std::fopen(path.c_str(), "a"));
  check(file != nullptr && PEM_write_X509(file.get(), issued.cert.get()) == 1, path.c_str());
}

CertFiles save(const std::string& dir, const std::string& name, const Issued& issued) {
  CertFiles files{dir + "/" + name + ".crt", dir + "/" + name + ".key"};
  append_cert(files.cert, issued);
  const File file(std::fopen(files.key.c_str(), "w"));
  check(file != nullptr && PEM_write_PrivateKey(file.get(), issued.key.get(), nullptr, nullptr, 0,
                                                nullptr, nullptr) == 1,
        name.c_str());
  return files;
}

}  // namespace

Certificates::Certificates() {
  // First call of OpenSSL in a test program: it must not read the machine's openssl.cnf either.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  std::string pattern =
      (std::filesystem::temp_directory_path() / "cronlatch-certs-XXXXXX").string();
  check(mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  dir_ = pattern;

  const Issued ca = issue({"Test CA", nullptr, true}, nullptr);
  const Issued other = issue({"Other Test CA", nullptr, true}, nullptr);
  ca_ = save(dir_, "ca", ca).cert;
  other_ca_ = save(dir_, "other_ca", other).cert;
  bundle_ = dir_ + "/bundle.crt";
  for (int i = 0; i < 59; ++i) {
    const std::string name = "Bundled CA " + std::to_string(i);
    if (i == 41) append_cert(bundle_, ca);
    append_cert(bundle_, issue({name.c_str(), nullptr, true}, nullptr));
  }

  const Wanted right{"redis", kRightNames};
  good_ = save(dir_, "good", issue(right, &ca));
  rsa_ = save(dir_, "rsa", issue(right, &ca, Key(EVP_RSA_gen(2048))));
  wrong_name_ = save(dir_, "wrong_name", issue({"elsewhere", "DNS:elsewhere.example"}, &ca));
  expired_ = save(dir_, "expired", issue({"redis", kRightNames, false, -9 * kDay, -kDay}, &ca));
  self_signed_ = save(dir_, "self_signed", issue(right, nullptr));
  unknown_ca_ = save(dir_, "unknown_ca", issue(right, &other));
  client_ = save(dir_, "client", issue({"client"}, &ca));
}

Certificates::~Certificates() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

}  // namespace cronlatch::testing
