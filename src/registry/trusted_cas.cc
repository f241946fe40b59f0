// SPDX-License-Identifier: Apache-2.0
#include "registry/trusted_cas.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "kube/access.h"

namespace cronlatch::registry {
namespace {

Status add_cas(X509_STORE* store, const std::string& file) {
  auto pem = kube::read_small_file(file);
  if (!pem) return Error{Code::config, "lookup-ca-file: " + pem.error().message};
  BIO* const bio = BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size()));
  int count = 0;
  while (X509* const ca = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, ca);
    X509_free(ca);
    ++count;
  }
  BIO_free(bio);
  ERR_clear_error();  // the end of the file is an error of the PEM reader
  if (count == 0) return Error{Code::config, "lookup-ca-file: " + file + " has no certificate"};
  return Done{};
}

}  // namespace

Result<TrustedCas> TrustedCas::load(const std::string& ca_file) {
  TrustedCas cas;
  cas.context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (cas.context_ == nullptr) return Error{Code::bug, "cannot set up TLS"};
  SSL_CTX* const context = cas.context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(context);  // honors SSL_CERT_FILE
  ERR_clear_error();
  if (!ca_file.empty())
    if (Status added = add_cas(SSL_CTX_get_cert_store(context), ca_file); !added)
      return added.error();
  return cas;
}

}  // namespace cronlatch::registry
