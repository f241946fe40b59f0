// SPDX-License-Identifier: Apache-2.0
// One thread accepts, and one serves each connection: there are few, and getaddrinfo(3) blocks.
#include "registry/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "base/base64.h"
#include "base/fd.h"
#include "registry/proxy_tunnel.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kPollInterval{100};

Result<std::string> random_text() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()})
    return Error{Code::system, "getrandom(2) returned no random bytes"};
  std::string text;
  for (const unsigned char byte : bytes) {
    text += static_cast<char>('a' + (byte >> 4));
    text += static_cast<char>('a' + (byte & 15));
  }
  return text;
}

}  // namespace

class Proxy::Impl {
 public:
  Impl(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
       const Log& log, std::optional<UpstreamProxy> upstream)
      : policy_(policy),
        limits_(limits),
        clock_(clock),
        log_(log),
        upstream_(std::move(upstream)) {}

  Status start() {
    auto secret = random_text();
    if (!secret) return secret.error();
    secret_ = std::move(*secret);
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (!listener_ || ::bind(listener_.get(), generic, size) != 0 ||
        ::listen(listener_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0)
      return Error{Code::system,
                   std::string("cannot listen on 127.0.0.1: ") + std::strerror(errno)};
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_until(stop); });
    return Done{};
  }

  void stop() {
    acceptor_.request_stop();
    if (acceptor_.joinable()) acceptor_.join();
    for (Tunnel& tunnel : tunnels_) tunnel.thread.request_stop();
    tunnels_.clear();  // joins
  }

  std::uint16_t port() const { return port_; }
  std::string url() const {
    return "http://lookup:" + secret_ + "@127.0.0.1:" + std::to_string(port_);
  }
  std::string authorization() const { return "Basic " + encode_base64("lookup:" + secret_); }

 private:
  struct Tunnel {
    std::atomic<bool> is_over{false};
    std::jthread thread{};
  };

  void accept_until(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd polled{listener_.get(), POLLIN, 0};
      ::poll(&polled, 1, static_cast<int>(kPollInterval.count()));
      tunnels_.remove_if([](const Tunnel& tunnel) { return tunnel.is_over.load(); });
      if (polled.revents == 0) continue;
      Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer || tunnels_.size() >= limits_.connections) continue;
      Tunnel& tunnel = tunnels_.emplace_back();
      tunnel.thread = std::jthread([this, &tunnel,
                                    peer = std::move(peer)](const std::stop_token& ended) mutable {
        serve_tunnel(std::move(peer), {policy_, limits_, secret_, clock_, log_, upstream_}, ended);
        tunnel.is_over = true;
      });
    }
  }

  const image::RegistryPolicy& policy_;
  const ProxyLimits limits_;
  const Clock& clock_;
  const Log& log_;
  const std::optional<UpstreamProxy> upstream_;
  std::string secret_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::list<Tunnel>
      tunnels_;  // used by the accepting thread, and by stop() after that thread has ended
  std::jthread acceptor_;
};

Proxy::Proxy(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
             const Log& log, std::optional<UpstreamProxy> upstream)
    : impl_(std::make_unique<Impl>(policy, limits, clock, log, std::move(upstream))) {}
Proxy::~Proxy() { stop(); }
Status Proxy::start() { return impl_->start(); }
void Proxy::stop() { impl_->stop(); }
std::uint16_t Proxy::port() const { return impl_->port(); }
std::string Proxy::url() const { return impl_->url(); }
std::string Proxy::authorization() const { return impl_->authorization(); }

}  // namespace cronlatch::registry
