// SPDX-License-Identifier: Apache-2.0
// Builds an SSL_CTX from memory: no file is read, and no openssl.cnf applies.
#include "operator/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "operator/tls/openssl.h"

namespace cronlatch::op {
namespace {

// The API server's webhook client offers http/1.1. Other protocols receive an alert.
int select_alpn(SSL*, const unsigned char** out, unsigned char* out_length,
                const unsigned char* offered, unsigned offered_length, void*) {
  static constexpr unsigned char kSupported[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kSupported, sizeof(kSupported) - 1, offered,
                            offered_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

bool use_certificate(SSL_CTX* context, const Certificate& certificate) {
  const Bio chain = memory_bio(certificate.chain_pem);
  const Cert leaf = next_cert(chain.get());
  if (leaf == nullptr || SSL_CTX_use_certificate(context, leaf.get()) != 1) return false;
  while (const Cert above = next_cert(chain.get())) {
    if (SSL_CTX_add1_chain_cert(context, above.get()) != 1) return false;
  }
  ERR_clear_error();  // "no start line" marks the end of the chain
  const Key key = next_key(memory_bio(certificate.key_pem).get());
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
         SSL_CTX_check_private_key(context) == 1;
}

bool require_client_certificate(SSL_CTX* context, const std::string& ca_pem) {
  const Bio authorities = memory_bio(ca_pem);
  int found = 0;
  while (const Cert ca = next_cert(authorities.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get()) != 1 ||
        SSL_CTX_add_client_CA(context, ca.get()) != 1) {
      return false;
    }
    ++found;
  }
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return found > 0;
}

}  // namespace

void FreeTlsContext::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> make_tls_context(const Certificate& certificate,
                                    const std::string& client_ca_pem) {
  ERR_clear_error();
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return tls_error("OpenSSL cannot serve TLS 1.2");
  }
  // Resumption would store a session for each client; the API server keeps its connections open
  // instead.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(context.get(), select_alpn, nullptr);
  if (!use_certificate(context.get(), certificate))
    return tls_error("the certificate cannot be used");
  if (!client_ca_pem.empty() && !require_client_certificate(context.get(), client_ca_pem)) {
    return tls_error("the CA of client certificates cannot be read");
  }
  return context;
}

}  // namespace cronlatch::op
