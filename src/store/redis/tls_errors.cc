// SPDX-License-Identifier: Apache-2.0
// Names in a certificate are untrusted: they are shortened and made printable.
#include "store/redis/tls_errors.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>

#include "store/redis/errors.h"

namespace cronlatch::redis {
namespace {

constexpr int kMaxNames = 5;
constexpr const char* kCaHint =
    "set tls-ca (or ca.crt in credentials-dir) to the CA that signed the server's certificate";

std::string text_of(const GENERAL_NAME* name) {
  if (name->type == GEN_DNS) {
    const ASN1_STRING* text = name->d.dNSName;
    return quotable({reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                     static_cast<std::size_t>(ASN1_STRING_length(text))});
  }
  if (name->type != GEN_IPADD) return {};
  char ip[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), ip, sizeof ip);
  return ip;
}

std::string names_in(X509* cert) {
  if (cert == nullptr) return "no name";
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::string list;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()) && i < kMaxNames; ++i) {
    const std::string text = text_of(sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty()) list += (list.empty() ? "" : ", ") + text;
  }
  return list.empty() ? "no name" : list;
}

Error refused(const std::string& where, std::string what, std::string hint) {
  return {Code::tls, "tls to " + where + ": " + std::move(what), std::move(hint)};
}

}  // namespace

Error certificate_refused(long verdict, const std::string& where, const std::string& name,
                          X509* cert) {
  const std::string its = "the server's certificate ";
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return refused(where, its + "is not for " + name + " but for " + names_in(cert),
                     "use a name of the certificate in store, or set tls-server-name to it");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return refused(where, its + "or its CA's has expired",
                     "renew it, or correct this host's clock");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return refused(where, its + "is not valid yet", "check this host's clock");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return refused(where, its + "is self-signed", "set tls-ca to that certificate to trust it");
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return refused(where, its + "is signed by an unknown CA", kCaHint);
    default:
      return refused(where, its + "was refused: " + X509_verify_cert_error_string(verdict),
                     kCaHint);
  }
}

Error handshake_refused(int reason, const std::string& where, bool have_cert) {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH:
    case SSL_R_HTTP_REQUEST:
      return refused(where, "the server does not use TLS on this port",
                     "write redis:// for a port without TLS, or use the server's TLS port");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return refused(where, "the server supports only TLS versions older than 1.2",
                     "enable TLS 1.2 or 1.3 on the server");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      if (!have_cert)
        return refused(where, "the server requires a client certificate",
                       "set tls-cert and tls-key, or put tls.crt and tls.key into credentials-dir");
      return refused(where, "the server refused the handshake",
                     "check the server's ciphers and the CA of the client certificate");
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return refused(
          where, "the server refused the client certificate",
          "tls-cert must be signed by a CA that the server accepts, and must not have expired");
    case SSL_R_TLSV1_UNRECOGNIZED_NAME:
      return refused(where, "the server has no certificate for the requested name",
                     "set tls-server-name to a name of the server");
    default:
      return refused(where, "the handshake failed (OpenSSL reason " + std::to_string(reason) + ")",
                     "check that the server supports TLS 1.2 or newer on this port");
  }
}

}  // namespace cronlatch::redis
