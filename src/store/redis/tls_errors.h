// SPDX-License-Identifier: Apache-2.0
// OpenSSL's verdicts in words, each with what to do about it. OpenSSL's own tables of strings stay
// unloaded: they cost start-up time in every run and help in none that goes well.
#pragma once

#include <openssl/ossl_typ.h>

#include <string>

#include "base/result.h"

namespace cronlatch::redis {

// For the result of SSL_get_verify_result; `name` is what was looked for in `cert`.
Error certificate_refused(long verdict, const std::string& where, const std::string& name,
                          X509* cert);
// For the reason of a failed handshake (ERR_GET_REASON); `have_cert` tells whether we offered a
// certificate.
Error handshake_refused(int reason, const std::string& where, bool have_cert);

}  // namespace cronlatch::redis
