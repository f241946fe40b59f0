// SPDX-License-Identifier: Apache-2.0
// ServerState: what the connections of one HttpServer share, and the list of open connections.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "operator/http/http_server.h"

namespace cronlatch::op::http {

using SteadyTime = std::chrono::steady_clock::time_point;

// One open connection. Thread rule: any method from any thread.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual void start() = 0;
  virtual void close_if_idle() = 0;
  virtual void close_now() = 0;
  // Since when the server waits for the peer; SteadyTime::max() while it processes a request.
  virtual SteadyTime waiting_since() const = 0;
};

// Outlives all connections.
struct HttpServerState {
  HttpServerState(const HttpLimits& l, HttpHandler h, const Log& g)
      : limits(l), handler(std::move(h)), log(g), workers(l.workers) {}

  const HttpLimits limits;
  const HttpHandler handler;
  const Log& log;
  boost::asio::thread_pool workers;
  std::atomic<bool> draining{false};
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> queued{0};
  std::atomic<std::size_t> body_bytes{0};

  void add(const std::shared_ptr<HttpConnection>& connection);
  void remove(HttpConnection* connection);
  std::size_t open_count();
  std::vector<std::shared_ptr<HttpConnection>> all_open();
  // False after `limit`.
  bool wait_until_none(Millis limit);
  // Closes the connections that have waited longest for their peer, an eighth of the limit at most.
  // Peers that send nothing thus cannot occupy all connections; the API server reconnects.
  void close_longest_waiting();
  // True at most once in ten seconds: peers control how often their errors occur and must not be
  // able to fill the log.
  bool may_warn();

 private:
  static constexpr Seconds kWarnInterval{10};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<HttpConnection*, std::weak_ptr<HttpConnection>> open_;
  SteadyTime next_warning_{};
};

}  // namespace cronlatch::op::http
