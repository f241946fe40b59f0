// SPDX-License-Identifier: Apache-2.0
// HttpServer: an HTTP/1.1 server, over TLS or plain, for a few peers that may be hostile. It limits
// what a peer can use: bytes, time, connections, queued requests. One handler answers all paths.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

struct HttpRequest {
  std::string method;
  std::string path;          // without the query; the API server adds "?timeout=10s"
  std::string content_type;  // as received
  std::string body;
  Secret bearer{};     // the token of the header Authorization; empty: none
  std::string peer{};  // IP address of the client; an IPv4 address in its own notation
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow{};         // the header Allow of a 405
  std::string authenticate{};  // the header WWW-Authenticate of a 401
};

// Called on a worker thread, several at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

// Each limit is a deadline for the whole step: single bytes do not extend it.
struct HttpLimits {
  Millis handshake{10'000};
  Millis header{10'000};
  Millis body{10'000};
  Millis answer{8'000};  // with the time in the queue; less than the API server's timeout of 10 s
  Millis write{10'000};
  Millis idle{90'000};
  // For the bytes that a rejected peer still sends (a reset would discard the response), and for
  // the first request of a new connection during stop().
  Millis linger{2'000};
  Millis accept_pause{100};  // after an error of accept, and at the connection limit
  std::size_t header_bytes = std::size_t{16} * 1024;
  std::size_t body_bytes =
      std::size_t{7} * 1024 * 1024;  // controller-runtime's limit: two objects of 3 MB
  std::size_t body_budget = std::size_t{64} * 1024 * 1024;  // all bodies of open requests together
  std::size_t connections = 512;
  std::size_t queue = 256;  // requests that wait for a worker; further ones receive 503
  std::size_t workers = 2;
  std::size_t io_threads = 2;
};

// Called on each I/O thread: after each `interval` in which it made progress, and at its end.
struct IoReports {
  std::function<void()> round = [] {};
  std::function<void()> ended = [] {};
  Millis interval{10'000};
};

enum class Transport { plain, tls };

// Thread rule: any method from any thread; stop() once.
class HttpServer {
 public:
  // `log` must outlive the server.
  HttpServer(Transport transport, const HttpLimits& limits, HttpHandler handler, const Log& log,
             IoReports io = {});
  ~HttpServer();  // as stop(Millis(0))
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Sets the certificate for new connections; open connections keep theirs. Connections before the
  // first certificate are closed. After an error the previous certificate stays in use.
  Status set_certificate(const Certificate& certificate, const std::string& client_ca_pem = "");

  // Listens on "IP:port" or "[IPv6]:port". "[::]" listens on both families, and on IPv4 alone where
  // the host has no IPv6. Port 0: any free port.
  Status start(std::string_view address);
  int port() const;

  // Every response has `Connection: close` from now on; connections are still accepted.
  void drain();
  // Stops accepting, closes idle connections, waits at most `grace` for the others. Includes
  // drain().
  void stop(Millis grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::op
