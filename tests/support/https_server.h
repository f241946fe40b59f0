// SPDX-License-Identifier: Apache-2.0
// HttpsServer: a server on loopback whose handler the test provides. It can write raw bytes, not
// answer, write slowly, or reset. One thread per connection; the destructor stops all threads.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/certificates.h"

namespace cronlatch::testing {

class HttpsServer {
 public:
  struct Request {
    std::string method, target, body;
    std::map<std::string, std::string> headers;  // names in lower case
  };
  // The connection to the client, as a handler uses it.
  class Peer {
   public:
    virtual ~Peer() = default;
    virtual void write(std::string_view bytes) = 0;
    virtual void reset() = 0;  // RST, as after the failure of a node or a killed server
    virtual void close() = 0;  // an orderly close
    // Waits until the client closes or the server stops; true when the client closed.
    virtual bool wait_for_client_to_go() = 0;
    // Returns false at once when the server stops.
    virtual bool pause(std::chrono::milliseconds time) = 0;
    void answer(int status, std::string_view json);
    void begin_stream();  // 200 and chunked
    void chunk(std::string_view bytes);
    void end_stream();
  };
  using Handler = std::function<void(const Request&, Peer&)>;

  HttpsServer(CertFiles certificate, Handler handler);
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int fd);

  const CertFiles certificate_;
  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> ending_{false};
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace cronlatch::testing
