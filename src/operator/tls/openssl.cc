// SPDX-License-Identifier: Apache-2.0
#include "operator/tls/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>

namespace cronlatch::op {
namespace {

int no_passphrase(char*, int, int, void*) { return 0; }

}  // namespace

Bio memory_bio(std::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Cert next_cert(BIO* pem) { return Cert(PEM_read_bio_X509(pem, nullptr, no_passphrase, nullptr)); }

Key next_key(BIO* pem) {
  return Key(PEM_read_bio_PrivateKey(pem, nullptr, no_passphrase, nullptr));
}

WallTime wall_time(const ASN1_TIME* time) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&fields)) * 1'000'000};
}

Error tls_error(std::string what, std::string hint) {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  if (reason != nullptr) what += std::string(": ") + reason;
  return {Code::tls, std::move(what), std::move(hint)};
}

}  // namespace cronlatch::op
