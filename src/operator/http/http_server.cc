// SPDX-License-Identifier: Apache-2.0
// The listener and the lifecycle: accepting, making room, draining, stopping. What is said on a
// connection is http_connection.cc's.
#include "operator/http/http_server.h"

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <exception>
#include <thread>
#include <utility>

#include "operator/http/server_state.h"
#include "operator/tls/tls_context.h"

namespace cronlatch::op {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using asio::ip::tcp;
using http::Connection;
using http::SteadyTime;

Result<tcp::endpoint> endpoint_of(std::string_view address) {
  const auto wrong = [&](std::string_view what) {
    return Error{Code::config,
                 "cannot listen on '" + std::string(address) + "': " + std::string(what),
                 "IP:port, for example [::]:8443"};
  };
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return wrong("it names no port");
  std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  unsigned short number = 0;
  const auto [end, bad] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (bad != std::errc() || end != port.data() + port.size()) return wrong("that is no port");
  ErrorCode trouble;
  const auto ip = asio::ip::make_address(std::string(host), trouble);
  if (trouble) return wrong("that is no IP address");
  return tcp::endpoint(ip, number);
}

}  // namespace

namespace http {

std::size_t Shared::open_count() {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

std::vector<std::shared_ptr<Connection>> Shared::all_open() {
  std::vector<std::shared_ptr<Connection>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(open_.size());
  for (const auto& [raw, weak] : open_) {
    if (auto connection = weak.lock()) all.push_back(std::move(connection));
  }
  return all;
}

bool Shared::may_warn() {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  if (now < quiet_until_) return false;
  quiet_until_ = now + kQuiet;
  return true;
}

bool Shared::wait_until_none(Millis limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return open_.empty(); });
}

void Shared::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  open_.emplace(connection.get(), connection);
}

void Shared::remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
  if (open_.empty()) changed_.notify_all();
}

}  // namespace http

class HttpServer::Impl {
 public:
  Impl(Transport transport, const HttpLimits& limits, HttpHandler handler, const Log& log)
      : transport_(transport),
        shared_(limits, std::move(handler), log),
        acceptor_(asio::make_strand(io_)),
        pause_(acceptor_.get_executor()) {}

  Status use(const Certificate& certificate, const std::string& client_ca_pem) {
    auto made = make_tls_context(certificate, client_ca_pem);
    if (!made) return made.error();
    context_ = std::make_shared<asio::ssl::context>(std::move(made).value().release());
    return Done{};
  }

  Status start(std::string_view address) {
    const auto endpoint = endpoint_of(address);
    if (!endpoint) return endpoint.error();
    ErrorCode trouble = open(*endpoint);
    if (trouble == asio::error::address_family_not_supported &&
        endpoint->address().is_unspecified()) {
      trouble = open(tcp::endpoint(asio::ip::address_v4::any(), endpoint->port()));
    }
    if (trouble) {
      return Error{Code::system,
                   "cannot listen on '" + std::string(address) + "': " + trouble.message()};
    }
    accept();
    for (std::size_t i = 0; i < shared_.limits.io_threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
    return Done{};
  }

  int port() const { return port_; }
  void drain() { shared_.draining = true; }

  void stop(Millis grace) {
    if (std::exchange(stopped_, true)) return;
    shared_.draining = true;
    shared_.stopping = true;
    if (!threads_.empty()) {
      asio::post(acceptor_.get_executor(), [this] { close_door(); });
      if (!shared_.wait_until_none(grace)) {
        for (const auto& connection : shared_.all_open()) connection->close_now();
        shared_.wait_until_none(shared_.limits.linger);
      }
    }
    shared_.workers.join();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  ErrorCode open(const tcp::endpoint& endpoint) {
    ErrorCode trouble;
    const auto wrong = [&] { return static_cast<bool>(trouble); };
    acceptor_.open(endpoint.protocol(), trouble);
    if (wrong()) return trouble;
    acceptor_.set_option(tcp::acceptor::reuse_address(true), trouble);
    if (!wrong() && endpoint.protocol() == tcp::v6()) {
      acceptor_.set_option(asio::ip::v6_only(false), trouble);
    }
    if (!wrong()) acceptor_.bind(endpoint, trouble);
    if (!wrong()) acceptor_.listen(asio::socket_base::max_listen_connections, trouble);
    if (!wrong()) port_ = acceptor_.local_endpoint(trouble).port();
    ErrorCode ignored;
    if (wrong()) acceptor_.close(ignored);
    return trouble;
  }

  void run() {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& e) {  // out of memory, most likely; the others go on
        shared_.log({Level::error,
                     "connection_failed",
                     "a connection ended for a defect of ours",
                     {{"reason", e.what()}}});
      }
    }
  }

  void accept() {
    if (!acceptor_.is_open()) return;
    if (shared_.open_count() >= shared_.limits.connections) {
      make_room();
      return accept_later("there are too many connections");
    }
    acceptor_.async_accept(asio::make_strand(io_),
                           [this](const ErrorCode& trouble, http::Socket s) {
                             if (!acceptor_.is_open()) return;
                             // Without a pause, no free descriptor would mean a busy loop until one
                             // is free.
                             if (trouble) return accept_later(trouble.message());
                             serve(std::move(s));
                             accept();
                           });
  }

  void accept_later(const std::string& why) {
    if (shared_.may_warn()) {
      shared_.log(
          {Level::warn, "accept_paused", "new connections have to wait", {{"reason", why}}});
    }
    pause_.expires_after(shared_.limits.accept_pause);
    pause_.async_wait([this](const ErrorCode& trouble) {
      if (!trouble) accept();
    });
  }

  void serve(http::Socket socket) {
    std::shared_ptr<Connection> connection;
    if (transport_ == Transport::tls) {
      const auto context = context_.load();
      if (context == nullptr) return;  // nothing to show yet: readiness says so
      connection = http::make_tls(std::move(socket), *context, shared_);
    } else {
      connection = http::make_plain(std::move(socket), shared_);
    }
    shared_.add(connection);
    connection->start();
  }

  // Those who have kept us waiting longest make room: strangers that say nothing cannot lock the
  // API server out, and it reconnects when it was one of its idle ones.
  void make_room() {
    auto all = shared_.all_open();
    const std::size_t some = std::min(all.size(), shared_.limits.connections / 8 + 1);
    const auto longest_first = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::vector<std::pair<SteadyTime, Connection*>> waiting;
    waiting.reserve(all.size());
    for (const auto& connection : all) {
      waiting.emplace_back(connection->waiting_since(), connection.get());
    }
    std::partial_sort(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(some),
                      waiting.end(), longest_first);
    for (std::size_t i = 0; i < some && waiting[i].first != SteadyTime::max(); ++i) {
      waiting[i].second->close_now();
    }
  }

  // Whoever has connected already is still served.
  void close_door() {
    ErrorCode trouble;
    acceptor_.non_blocking(true, trouble);
    while (!trouble) {
      http::Socket socket(asio::make_strand(io_));
      acceptor_.accept(socket, trouble);
      if (!trouble) serve(std::move(socket));
    }
    acceptor_.close(trouble);
    pause_.cancel();
    for (const auto& connection : shared_.all_open()) connection->close_if_idle();
  }

  const Transport transport_;
  // Read for each connection while another thread replaces it, hence shared and atomic.
  std::atomic<std::shared_ptr<asio::ssl::context>> context_;
  http::Shared shared_;
  asio::io_context io_;  // goes first: its handlers own the connections, which know `shared_`
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_;
  int port_ = 0;
  bool stopped_ = false;
};

HttpServer::HttpServer(Transport transport, const HttpLimits& limits, HttpHandler handler,
                       const Log& log)
    : impl_(std::make_unique<Impl>(transport, limits, std::move(handler), log)) {}

HttpServer::~HttpServer() { impl_->stop(Millis(0)); }

Status HttpServer::use(const Certificate& certificate, const std::string& client_ca_pem) {
  return impl_->use(certificate, client_ca_pem);
}
Status HttpServer::start(std::string_view address) { return impl_->start(address); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::drain() { impl_->drain(); }
void HttpServer::stop(Millis grace) { impl_->stop(grace); }

}  // namespace cronlatch::op
