// SPDX-License-Identifier: Apache-2.0
// Accepts connections, drains and stops. http_session.cc has the protocol.
#include "operator/http/http_server.h"

#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "operator/http/http_session.h"
#include "operator/http/listen_address.h"
#include "operator/tls/tls_context.h"

namespace cronlatch::op {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using asio::ip::tcp;
using http::HttpConnection;

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Transport transport, const HttpLimits& limits, HttpHandler handler, const Log& log,
       IoReports reports)
      : transport_(transport),
        reports_(std::move(reports)),
        state_(limits, std::move(handler), log),
        acceptor_(asio::make_strand(io_)),
        pause_(acceptor_.get_executor()) {}

  Status set_certificate(const Certificate& certificate, const std::string& client_ca_pem) {
    auto made = make_tls_context(certificate, client_ca_pem);
    if (!made) return made.error();
    auto context = std::make_shared<asio::ssl::context>(std::move(made).value().release());
    const std::lock_guard lock(context_mutex_);
    context_ = std::move(context);
    return Done{};
  }

  Status start(std::string_view address) {
    const auto port = http::listen_on(address, acceptor_);
    if (!port) return port.error();
    port_ = *port;
    accept();
    for (std::size_t i = 0; i < state_.limits.io_threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
    return Done{};
  }

  int port() const { return port_; }
  void drain() { state_.draining = true; }

  void stop(Millis grace) {
    if (std::exchange(stopped_, true)) return;
    state_.draining = true;
    state_.stopping = true;
    if (!threads_.empty()) {
      asio::post(acceptor_.get_executor(), [this] { stop_accepting(); });
      if (!state_.wait_until_none(grace)) {
        for (const auto& connection : state_.all_open()) connection->close_now();
        state_.wait_until_none(state_.limits.linger);
      }
    }
    state_.workers.join();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void run() {
    do {
      reports_.round();
      try {
        io_.run_for(reports_.interval);
      } catch (const std::exception& e) {  // out of memory; other connections continue
        state_.log({Level::error,
                    "connection_failed",
                    "a connection was closed because of an internal error",
                    {{"reason", e.what()}}});
      }
    } while (!io_.stopped());
    reports_.ended();
  }

  void accept() {
    if (!acceptor_.is_open()) return;
    if (state_.open_count() >= state_.limits.connections) {
      state_.close_longest_waiting();
      return retry_accept("too many connections");
    }
    acceptor_.async_accept(asio::make_strand(io_), [this](const ErrorCode& error, http::Socket s) {
      if (!acceptor_.is_open()) return;
      // Without free descriptors, accept fails at once: the pause prevents a
      // busy loop.
      if (error) return retry_accept(error.message());
      serve(std::move(s));
      accept();
    });
  }

  void retry_accept(const std::string& why) {
    if (state_.may_warn()) {
      state_.log({Level::warn, "accept_paused", "new connections wait", {{"reason", why}}});
    }
    pause_.expires_after(state_.limits.accept_pause);
    pause_.async_wait([this](const ErrorCode& error) {
      if (!error) accept();
    });
  }

  void serve(http::Socket socket) {
    std::shared_ptr<HttpConnection> connection;
    if (transport_ == Transport::tls) {
      const auto context = current_context();
      if (context == nullptr) return;  // no certificate yet; /readyz reports it
      connection = http::make_tls_session(std::move(socket), *context, state_);
    } else {
      connection = http::make_plain_session(std::move(socket), state_);
    }
    state_.add(connection);
    connection->start();
  }

  std::shared_ptr<asio::ssl::context> current_context() {
    const std::lock_guard lock(context_mutex_);
    return context_;
  }

  // Connections in the backlog of the kernel are still served.
  void stop_accepting() {
    ErrorCode error;
    acceptor_.non_blocking(true, error);
    while (!error) {
      http::Socket socket(asio::make_strand(io_));
      acceptor_.accept(socket, error);
      if (!error) serve(std::move(socket));
    }
    acceptor_.close(error);
    pause_.cancel();
    for (const auto& connection : state_.all_open()) connection->close_if_idle();
  }

  const Transport transport_;
  const IoReports reports_;
  // Read for each connection while another thread replaces it. No std::atomic<std::shared_ptr>: in
  // GCC 12 a reader leaves it with memory_order_relaxed, so that its read can overlap a later
  // write.
  std::mutex context_mutex_;
  std::shared_ptr<asio::ssl::context> context_;
  http::HttpServerState state_;
  asio::io_context io_;  // destroyed before state_: its handlers own the connections
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_;
  int port_ = 0;
  bool stopped_ = false;
};

HttpServer::HttpServer(Transport transport, const HttpLimits& limits, HttpHandler handler,
                       const Log& log, IoReports io)
    : impl_(std::make_unique<Impl>(transport, limits, std::move(handler), log, std::move(io))) {}

HttpServer::~HttpServer() { impl_->stop(Millis(0)); }

Status HttpServer::set_certificate(const Certificate& certificate,
                                   const std::string& client_ca_pem) {
  return impl_->set_certificate(certificate, client_ca_pem);
}
Status HttpServer::start(std::string_view address) { return impl_->start(address); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::drain() { impl_->drain(); }
void HttpServer::stop(Millis grace) { impl_->stop(grace); }

}  // namespace cronlatch::op
