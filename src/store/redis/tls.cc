// SPDX-License-Identifier: Apache-2.0
// OpenSSL between two memory buffers. Each error is read from OpenSSL's queue directly after the
// call.
#include "store/redis/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "store/redis/tls_errors.h"

namespace cronlatch::redis {
namespace {

// Replaces OpenSSL's default, which reads from the terminal and blocks.
int no_passphrase(char*, int, int, void*) { return 0; }

Error certificate_error(const std::string& what, const std::string& hint) {
  return {Code::config, what, hint};
}

}  // namespace

void SslDeleter::operator()(SSL* ssl) const { SSL_free(ssl); }
void SslDeleter::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

Status TlsContext::prepare() {
  if (loaded_.context != nullptr) return Done{};
  // On an error nothing is kept: a missing file can exist before the next connection.
  Result<Loaded> loaded = load();
  if (!loaded) return loaded.error();
  std::swap(loaded_, *loaded);  // the old context is freed before its CaLookup
  return Done{};
}

Status TlsContext::refresh(const StoreCredentials& now) {
  TlsSettings before = settings_;
  settings_.ca = now.tls_ca;
  settings_.cert = now.tls_cert;
  settings_.key = now.tls_key;
  if (loaded_.context == nullptr || loaded_.stamps == stamps()) return Done{};
  Result<Loaded> loaded = load();
  if (!loaded) {
    settings_ = std::move(before);
    return loaded.error();
  }
  std::swap(loaded_, *loaded);  // the old context is freed before its CaLookup
  return Done{};
}

std::vector<FileStamp> TlsContext::stamps() const {
  std::vector<std::string> paths;
  if (!settings_.skip_verify) paths = CaLookup::paths(settings_.ca);
  if (!settings_.cert.empty()) paths.insert(paths.end(), {settings_.cert, settings_.key});
  std::vector<FileStamp> found;
  for (const std::string& path : paths) found.push_back(FileStamp::of(path));
  return found;
}

// Files that are replaced during the read may not match: then they are read again.
Result<TlsContext::Loaded> TlsContext::load() {
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    const std::vector<FileStamp> before = stamps();
    Result<Loaded> loaded = load_once();
    if (loaded) loaded->stamps = before;
    if (loaded || i == kTries || stamps() == before) return loaded;
  }
}

Result<TlsContext::Loaded> TlsContext::load_once() {
  if (!library_ || library_->get() == nullptr) library_.emplace();
  Loaded loaded;
  if (library_->get() != nullptr)
    loaded.context.reset(SSL_CTX_new_ex(library_->get(), nullptr, TLS_client_method()));
  if (loaded.context == nullptr) return Error{Code::bug, "cannot set up TLS"};
  SSL_CTX* context = loaded.context.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_verify(context, settings_.skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!settings_.skip_verify) {
    Result<std::unique_ptr<CaLookup>> cas =
        settings_.ca.empty() ? CaLookup::from_system() : CaLookup::from_file(settings_.ca);
    if (!cas) return cas.error();
    loaded.cas = std::move(cas).value();
    loaded.cas->attach(SSL_CTX_get_cert_store(context), library_->get());
  }
  if (!settings_.cert.empty())
    if (Status own = load_own_certificate(context); !own) return own.error();
  return loaded;
}

Status TlsContext::load_own_certificate(SSL_CTX* context) const {
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, settings_.cert.c_str()) != 1)
    return certificate_error(
        "tls-cert: cannot use " + settings_.cert,
        "it must be a readable PEM file that starts with the client certificate");
  const bool is_set =
      SSL_CTX_use_PrivateKey_file(context, settings_.key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (!is_set && ERR_GET_REASON(ERR_peek_last_error()) != X509_R_KEY_VALUES_MISMATCH)
    return certificate_error(
        "tls-key: cannot use " + settings_.key,
        "it must be a readable PEM file with the key of tls-cert, unencrypted");
  if (!is_set || SSL_CTX_check_private_key(context) != 1)
    return certificate_error("tls-key: " + settings_.key + " is not the key of " + settings_.cert,
                             "tls-cert and tls-key must belong together");
  return Done{};
}

Result<std::unique_ptr<TlsStream>> TlsContext::open(const TlsPeer& peer) {
  if (Status ready = prepare(); !ready) return ready.error();
  std::unique_ptr<SSL, SslDeleter> ssl(SSL_new(loaded_.context.get()));
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl.get());
  // An IP address must match an address in the certificate, and is never sent as SNI (RFC 6066,
  // section 3).
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, peer.name.c_str()) != 1) {
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl.get(), peer.name.c_str()) != 1 ||
        SSL_set_tlsext_host_name(ssl.get(), peer.name.c_str()) != 1)
      return Error{Code::config, "tls-server-name cannot be used", "it must be a host name"};
  }
  return std::make_unique<TlsStream>(std::move(ssl), peer, !settings_.cert.empty());
}

TlsStream::TlsStream(std::unique_ptr<SSL, SslDeleter> ssl, TlsPeer peer, bool has_certificate)
    : ssl_(std::move(ssl)), peer_(std::move(peer)), has_certificate_(has_certificate) {
  BIO* from_wire = BIO_new(BIO_s_mem());
  BIO* to_wire = BIO_new(BIO_s_mem());
  // An empty buffer means "no bytes yet", not the end.
  BIO_set_mem_eof_return(from_wire, -1);
  BIO_set_mem_eof_return(to_wire, -1);
  SSL_set_bio(ssl_.get(), from_wire, to_wire);
  SSL_set_connect_state(ssl_.get());
}

void TlsStream::receive(std::string_view wire) {
  BIO_write(SSL_get_rbio(ssl_.get()), wire.data(), static_cast<int>(wire.size()));
}

std::string TlsStream::outgoing() {
  BIO* to_wire = SSL_get_wbio(ssl_.get());
  std::string wire(BIO_ctrl_pending(to_wire), '\0');
  if (!wire.empty()) BIO_read(to_wire, wire.data(), static_cast<int>(wire.size()));
  return wire;
}

bool TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return true;
  check_result(result);
  return false;
}

void TlsStream::write(std::string_view plain) {
  ERR_clear_error();
  const int result = SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  if (result <= 0) check_result(result);
}

std::string TlsStream::read() {
  std::string plain;
  char block[16'384];
  while (true) {
    ERR_clear_error();
    const int got = SSL_read(ssl_.get(), block, sizeof block);
    if (got > 0) {
      plain.append(block, static_cast<std::size_t>(got));
      continue;
    }
    check_result(got);
    return plain;
  }
}

void TlsStream::check_result(int result) {
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_ZERO_RETURN) ended_ = true;
  if (error == SSL_ERROR_SSL && !failure_) failure_ = describe(ERR_peek_error());
}

Error TlsStream::describe(unsigned long code) const {
  const int reason = ERR_GET_REASON(code);
  if (reason != SSL_R_CERTIFICATE_VERIFY_FAILED)
    return handshake_refused(reason, peer_.where, has_certificate_);
  // OpenSSL does not store a refused certificate as the peer's; it is the first of the sent chain.
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_.get());
  X509* cert = chain == nullptr || sk_X509_num(chain) == 0 ? nullptr : sk_X509_value(chain, 0);
  const long verdict = SSL_get_verify_result(ssl_.get());
  Error error = certificate_refused(verdict, peer_.where, peer_.name, cert);
  const bool is_name =
      verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
  if (is_name && !peer_.name_hint.empty()) error.hint = peer_.name_hint;
  return error;
}

}  // namespace cronlatch::redis
