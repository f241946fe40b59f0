// SPDX-License-Identifier: Apache-2.0
// A thread that accepts, and one for each connection: there are few, and name resolution blocks.
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

#include "base/fd.h"
#include "registry/private_directory.h"
#include "registry/proxy_tunnel.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kLookAround{100};

Result<std::string> random_word() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()})
    return Error{Code::system, "the kernel gives no random bytes"};
  std::string word;
  for (const unsigned char byte : bytes) {
    word += static_cast<char>('a' + (byte >> 4));
    word += static_cast<char>('a' + (byte & 15));
  }
  return word;
}

}  // namespace

class Proxy::Impl {
 public:
  Impl(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
       const Log& log)
      : policy_(policy), limits_(limits), clock_(clock), log_(log) {}

  Status start() {
    auto word = random_word();
    if (!word) return word.error();
    secret_ = std::move(*word);
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (!listener_ || ::bind(listener_.get(), generic, size) != 0 ||
        ::listen(listener_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0)
      return Error{Code::system, std::string("no port on loopback: ") + std::strerror(errno)};
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

 private:
  struct Tunnel {
    std::atomic<bool> over{false};
    std::jthread thread{};
  };

  void accept_until(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd polled{listener_.get(), POLLIN, 0};
      ::poll(&polled, 1, static_cast<int>(kLookAround.count()));
      tunnels_.remove_if([](const Tunnel& tunnel) { return tunnel.over.load(); });
      if (polled.revents == 0) continue;
      Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer || tunnels_.size() >= limits_.connections) continue;
      Tunnel& tunnel = tunnels_.emplace_back();
      tunnel.thread = std::jthread(
          [this, &tunnel, peer = std::move(peer)](const std::stop_token& ended) mutable {
            serve_tunnel(std::move(peer), {policy_, limits_, secret_, clock_, log_}, ended);
            tunnel.over = true;
          });
    }
  }

  const image::RegistryPolicy& policy_;
  const ProxyLimits limits_;
  const Clock& clock_;
  const Log& log_;
  std::string secret_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::list<Tunnel> tunnels_;  // of the accepting thread, and of stop() when that has ended
  std::jthread acceptor_;
};

Proxy::Proxy(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
             const Log& log)
    : impl_(std::make_unique<Impl>(policy, limits, clock, log)) {}
Proxy::~Proxy() { stop(); }
Status Proxy::start() { return impl_->start(); }
void Proxy::stop() { impl_->stop(); }
std::uint16_t Proxy::port() const { return impl_->port(); }
std::string Proxy::url() const { return impl_->url(); }

}  // namespace cronlatch::registry
