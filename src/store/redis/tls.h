// SPDX-License-Identifier: Apache-2.0
// TLS on bytes in memory, without a socket: Connection does all sending and receiving. The context
// is created on first use, because its creation costs more than a run without TLS. No openssl.cnf
// is read and no module is loaded.
#pragma once

#include <openssl/ossl_typ.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/store_credentials.h"
#include "store/redis/ca_lookup.h"
#include "store/redis/file_stamp.h"
#include "store/redis/tls_library.h"

namespace cronlatch::redis {

// The server of one connection.
struct TlsPeer {
  std::string where;  // host:port, for messages
  std::string name;   // name or IP address that the certificate must contain; a name is sent as SNI
  std::string name_hint;  // the fix for a certificate without that name; "" = the one for a URL
};

struct TlsSettings {
  std::string where;  // host:port, for messages
  std::string name;   // name or IP address that the certificate must contain; a name is sent as SNI
  std::string ca;     // PEM file; "" = the system's CAs
  std::string cert;   // PEM files of the client certificate and its key; both or none
  std::string key;
  bool skip_verify = false;
};

struct SslDeleter {
  void operator()(SSL* ssl) const;
  void operator()(SSL_CTX* context) const;
};

// One connection's TLS.
class TlsStream {
 public:
  // `has_certificate`: the client has one, which the server can refuse.
  TlsStream(std::unique_ptr<SSL, SslDeleter> ssl, TlsPeer peer, bool has_certificate);

  void receive(std::string_view wire);  // bytes from the socket
  std::string outgoing();               // bytes for the socket
  // Continues the handshake; true when it is finished.
  bool handshake();
  void write(std::string_view plain);    // only after the handshake
  std::string read();                    // all plain bytes received
  bool ended() const { return ended_; }  // the peer sent close_notify
  // Code::tls, final: the client or the server refused a certificate, a name or the protocol.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void check_result(int result);
  Error describe(unsigned long code) const;

  std::unique_ptr<SSL, SslDeleter> ssl_;
  TlsPeer peer_;
  bool has_certificate_;
  bool ended_ = false;
  std::optional<Error> failure_;
};

// Shared by the connections of one store; must outlive its streams.
class TlsContext {
 public:
  explicit TlsContext(TlsSettings settings) : settings_(std::move(settings)) {}
  // Does the slow part of the first open(), for use while the connection is established.
  Status prepare();
  Result<std::unique_ptr<TlsStream>> open(const TlsPeer& peer);
  // The server of the settings.
  Result<std::unique_ptr<TlsStream>> open() { return open({settings_.where, settings_.name, ""}); }
  // From the next open() on, uses the files of `now` if they differ or were replaced. On an error
  // the files loaded before are still used. Only while no stream exists.
  Status refresh(const StoreCredentials& now);

 private:
  // The objects of one set of files.
  struct Loaded {
    std::vector<FileStamp> stamps;  // of the files, taken before they were read
    std::unique_ptr<CaLookup> cas;  // outlives the context, which calls it
    std::unique_ptr<SSL_CTX, SslDeleter> context;
  };
  std::vector<FileStamp> stamps() const;
  Result<Loaded> load();
  Result<Loaded> load_once();
  Status load_own_certificate(SSL_CTX* context) const;

  TlsSettings settings_;
  std::optional<TlsLibrary> library_;  // outlives all objects that OpenSSL creates with it
  Loaded loaded_;
};

}  // namespace cronlatch::redis
