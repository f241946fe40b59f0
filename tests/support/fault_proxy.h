// SPDX-License-Identifier: Apache-2.0
// FaultProxy: a proxy between a client and a real Redis, on a free port of 127.0.0.1, that applies
// faults to selected requests or replies. The client may use TLS, which ends in the proxy. It has
// one thread for all connections.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/fault_connection.h"

namespace cronlatch::testing {

class FaultProxy {
 public:
  // With a context the client must use TLS.
  FaultProxy(int server_port, Fault fault, std::shared_ptr<SSL_CTX> tls = nullptr);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  int port() const { return port_; }
  std::string url() const {
    return (tls_ ? "rediss://127.0.0.1:" : "redis://127.0.0.1:") + std::to_string(port_);
  }
  int seen() const;  // the number of requests that were counted
  int struck() const;
  int connections() const;  // still open, or with a late request that has not been executed yet

 private:
  void serve();
  void accept_client();

  int server_port_;
  Fault fault_;
  std::shared_ptr<SSL_CTX> tls_;
  int listener_;
  int port_ = 0;
  int stop_[2];
  mutable std::mutex mutex_;
  FaultCounter counter_;
  std::vector<std::unique_ptr<FaultConnection>> connections_;
  std::thread thread_;
};

}  // namespace cronlatch::testing
