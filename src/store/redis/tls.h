// SPDX-License-Identifier: Apache-2.0
// TLS over bytes in memory: no socket is touched here, so that one place (Connection) does all
// sending and receiving. The context is made on first use, because making it costs more than a
// plain run; no openssl.cnf is read, no module loaded.
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

struct TlsSettings {
  std::string where;  // host:port, for messages
  std::string name;   // the name or IP address the server must prove; sent as SNI when it is a name
  std::string ca;     // PEM file; "" = the system's CAs
  std::string cert;   // PEM files for our side; both or none
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
  TlsStream(std::unique_ptr<SSL, SslDeleter> ssl, const TlsSettings& settings);

  void receive(std::string_view wire);  // what came from the socket
  std::string outgoing();               // what has to go to the socket
  // Moves the handshake on; true when it is finished.
  bool handshake();
  void write(std::string_view plain);    // only after the handshake
  std::string read();                    // all plain bytes there are
  bool ended() const { return ended_; }  // the peer said goodbye
  // Code::tls, final: a certificate, a name or the protocol itself was refused by us or by the
  // server.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void check_result(int result);
  Error describe(unsigned long code) const;

  std::unique_ptr<SSL, SslDeleter> ssl_;
  const TlsSettings& settings_;
  bool ended_ = false;
  std::optional<Error> failure_;
};

// Shared by the connections of one store; must outlive its streams.
class TlsContext {
 public:
  explicit TlsContext(TlsSettings settings) : settings_(std::move(settings)) {}
  // Does the slow part of the first open() now, while the network is slow anyway. Its result is
  // kept.
  Status prepare();
  Result<std::unique_ptr<TlsStream>> open();
  // Uses the files of `now` from the next open() on, when they are others or have been replaced. An
  // error: they cannot be used, and what was loaded before stays. Not while a stream lives.
  Status refresh(const StoreCredentials& now);

 private:
  // What was made of one set of files.
  struct Loaded {
    std::vector<FileStamp> stamps;  // of the files, read before them
    std::unique_ptr<CaLookup> cas;  // outlives the context, which asks it
    std::unique_ptr<SSL_CTX, SslDeleter> context;
  };
  std::vector<FileStamp> stamps() const;
  Result<Loaded> load();
  Result<Loaded> load_once();
  Status load_own_certificate(SSL_CTX* context) const;

  TlsSettings settings_;
  std::optional<TlsLibrary> library_;  // outlives all that OpenSSL makes with it
  Loaded loaded_;
};

}  // namespace cronlatch::redis
