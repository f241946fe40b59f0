// SPDX-License-Identifier: Apache-2.0
// The TLS settings of the admission port: versions, ALPN, client certificates.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "operator/tls/certificate.h"

struct ssl_ctx_st;  // SSL_CTX, without OpenSSL's headers

namespace cronlatch::op {

struct FreeTlsContext {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, FreeTlsContext>;

// TLS 1.2 and 1.3, ALPN http/1.1, no resumption, no renegotiation. With `client_ca_pem` a client
// must present a certificate of that CA; "": no client certificates.
Result<TlsContext> make_tls_context(const Certificate& certificate,
                                    const std::string& client_ca_pem);

}  // namespace cronlatch::op
