// SPDX-License-Identifier: Apache-2.0
#include "support/tls_end.h"

#include <cstdlib>

namespace cronlatch::testing {

std::shared_ptr<SSL_CTX> tls_server_context(const CertFiles& files) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    std::abort();
  return context;
}

TlsEnd::TlsEnd(SSL_CTX* context)
    : ssl_(SSL_new(context), SSL_free), in_(BIO_new(BIO_s_mem())), out_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_accept_state(ssl_.get());
}

std::string TlsEnd::receive(const std::string& wire) {
  BIO_write(in_, wire.data(), static_cast<int>(wire.size()));
  std::string plain;
  char block[4'096];
  for (int got = 0; (got = SSL_read(ssl_.get(), block, sizeof block)) > 0;)
    plain.append(block, static_cast<std::size_t>(got));
  return plain;
}

std::string TlsEnd::send(const std::string& plain) {
  if (!plain.empty()) SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out_, &bytes);
  std::string wire(bytes, static_cast<std::size_t>(size));
  BIO_reset(out_);
  return wire;
}

}  // namespace cronlatch::testing
