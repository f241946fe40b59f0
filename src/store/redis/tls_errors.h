// SPDX-License-Identifier: Apache-2.0
// Errors for OpenSSL's reason codes, each with a fix. OpenSSL's own error strings are not loaded:
// they cost startup time in every run.
#pragma once

#include <openssl/ossl_typ.h>

#include <string>

#include "base/result.h"

namespace cronlatch::redis {

// For the result of SSL_get_verify_result; `name` is the name that `cert` must contain.
Error certificate_refused(long verdict, const std::string& where, const std::string& name,
                          X509* cert);
// For the reason of a failed handshake (ERR_GET_REASON); `have_cert`: the client sent a
// certificate.
Error handshake_refused(int reason, const std::string& where, bool have_cert);

}  // namespace cronlatch::redis
