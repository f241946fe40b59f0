// SPDX-License-Identifier: Apache-2.0
// TLS as we serve it: versions, ALPN, what a client must show. It knows nothing of sockets; the
// server gives each context to its connections.
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

// TLS 1.2 and 1.3, ALPN http/1.1, no resumption and no renegotiation. With `client_ca_pem` only
// clients that show a certificate of that authority are served; "" asks for none.
Result<TlsContext> make_tls_context(const Certificate& certificate,
                                    const std::string& client_ca_pem);

}  // namespace cronlatch::op
