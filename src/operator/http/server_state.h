// SPDX-License-Identifier: Apache-2.0
// One connection of HttpServer, and what all of them share. For http_server.cc only; the protocol
// (Boost.Beast) stays in http_connection.cc.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "operator/http/http_server.h"

namespace cronlatch::op::http {

namespace asio = boost::asio;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;
using SteadyTime = std::chrono::steady_clock::time_point;

class Connection;

// What the connections of one server share; outlives all of them.
struct Shared {
  Shared(const HttpLimits& l, HttpHandler h, const Log& g)
      : limits(l), handler(std::move(h)), log(g), workers(l.workers) {}

  const HttpLimits limits;
  const HttpHandler handler;
  const Log& log;
  asio::thread_pool workers;
  std::atomic<bool> draining{false};
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> queued{0};
  std::atomic<std::size_t> body_bytes{0};

  std::size_t open_count();
  std::vector<std::shared_ptr<Connection>> all_open();
  bool wait_until_none(Millis limit);
  void add(const std::shared_ptr<Connection>& connection);
  void remove(Connection* connection);
  // At most once in ten seconds: peers decide how often their trouble happens, and must not fill
  // the log.
  bool may_warn();

 private:
  static constexpr Seconds kQuiet{10};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Connection*, std::weak_ptr<Connection>> open_;
  SteadyTime quiet_until_{};
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  // From any thread: closes it, if it is between two requests, or whatever it does.
  virtual void close_if_idle() = 0;
  virtual void close_now() = 0;
  // Since when it has been waiting for its peer; SteadyTime::max() while it is us who are asked.
  virtual SteadyTime waiting_since() const = 0;
};

std::shared_ptr<Connection> make_plain(Socket socket, Shared& shared);
// The context may go away afterwards: OpenSSL counts who uses it.
std::shared_ptr<Connection> make_tls(Socket socket, asio::ssl::context& context, Shared& shared);

}  // namespace cronlatch::op::http
