// SPDX-License-Identifier: Apache-2.0
// HttpServer: an HTTP/1.1 server for few peers that may be hostile, over TLS or plain. It bounds
// everything a peer can make it spend: bytes, time, connections, work in progress. It knows no
// path; what is answered comes from one function.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "operator/tls/certificate.h"

namespace cronlatch::op {

struct HttpRequest {
  std::string method;
  std::string path;          // without the query, which the API server adds ("?timeout=10s")
  std::string content_type;  // as it was sent
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow{};  // the header Allow of a 405
};

// Called on a worker thread, several at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

// All waits are absolute: a peer that sends a byte now and then gains nothing.
struct HttpLimits {
  Millis handshake{10'000};
  Millis header{10'000};
  Millis body{10'000};
  Millis answer{8'000};  // queueing included; below the API server's patience of 10 s
  Millis write{10'000};
  Millis idle{90'000};
  // For what a refused peer is still sending, as a reset would take the answer away from it; and
  // for who has connected but not yet spoken when we stop.
  Millis linger{2'000};
  Millis accept_pause{100};  // after an error of accept, and while there are too many connections
  std::size_t header_bytes = std::size_t{16} * 1024;
  std::size_t body_bytes =
      std::size_t{7} * 1024 * 1024;  // what controller-runtime reads: two objects of 3 MB
  std::size_t body_budget =
      std::size_t{64} * 1024 * 1024;  // of all bodies that are being read or answered
  std::size_t connections = 512;
  std::size_t queue = 256;  // requests that wait for a worker; the next one is told 503
  std::size_t workers = 2;
  std::size_t io_threads = 2;
};

enum class Transport { plain, tls };

// Thread rule: any method from any thread; stop() once.
class HttpServer {
 public:
  // `log` outlives the server.
  HttpServer(Transport transport, const HttpLimits& limits, HttpHandler handler, const Log& log);
  ~HttpServer();  // as stop(Millis(0))
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The certificate of connections that are accepted from now on; those that are open keep theirs.
  // Connections that come before the first certificate are closed. When it cannot be served, the
  // one before stays.
  Status use(const Certificate& certificate, const std::string& client_ca_pem = "");

  // Listens on "IP:port" or "[IPv6]:port" and serves. "[::]" is both families, and IPv4 alone where
  // the host has no IPv6. Port 0: any free one.
  Status start(std::string_view address);
  int port() const;

  // Every answer says `Connection: close` from now on; connections are still accepted.
  void drain();
  // Accepts no more, closes idle connections, waits at most `grace` for the others. Implies drain.
  void stop(Millis grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::op
