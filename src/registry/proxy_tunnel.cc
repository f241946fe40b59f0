// SPDX-License-Identifier: Apache-2.0
#include "registry/proxy_tunnel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>

#include "base/fd.h"
#include "base/host_port.h"
#include "base/text.h"
#include "registry/proxy_request.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kPollInterval{100};  // the longest delay after a request to stop
constexpr char kNotPublic[] = "its name resolves to an address that is not public";

class TunnelConnection {
 public:
  TunnelConnection(Fd peer, const TunnelDependencies& dependencies, const std::stop_token& stop)
      : peer_(std::move(peer)), deps_(dependencies), stop_(stop) {}

  void serve() {
    if (!read_request()) return;
    const Result<ProxyRequest> request = parse_proxy_request(head_, deps_.secret);
    if (!request) return refuse(400, "unknown", request.error().message);
    const std::string where = request->peer.host + ":" + std::to_string(request->peer.port);
    const auto permission = deps_.policy.allows(request->peer, request->scheme);
    if (!permission) return refuse(403, where, permission.error().message);
    const bool tunnel = request->scheme == image::RegistryPolicy::Scheme::https;
    const bool upstream = tunnel && deps_.upstream && deps_.upstream->is_for(request->peer);
    const Result<Fd> host = upstream
                                ? connect_through_upstream(request->peer, permission->any_address)
                                : connect(request->peer, permission->any_address);
    if (!host) return refuse(502, where, host.error().message);
    const std::string established = "HTTP/1.1 200 Connected\r\n\r\n";
    if (tunnel ? send_all(peer_, established) : send_all(*host, request->first_bytes))
      forward_both_ways(*host);
  }

 private:
  bool is_over() const { return stop_.stop_requested() || deps_.clock.now() >= deadline_; }

  // True when one of the descriptors is ready, false when the time is over.
  bool wait(pollfd* polled, nfds_t count) const {
    while (!is_over()) {
      const int ready = ::poll(polled, count, static_cast<int>(kPollInterval.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  bool read_request() {
    while (head_.find("\r\n\r\n") == std::string::npos) {
      pollfd polled{peer_.get(), POLLIN, 0};
      std::array<char, 4096> buffer;
      if (head_.size() > deps_.limits.head_bytes || !wait(&polled, 1)) return false;
      const ssize_t got = ::recv(peer_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return false;
      head_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return head_.ends_with("\r\n\r\n");  // the client must wait for the response
  }

  // Go's client puts the reason phrase into its own error message.
  void refuse(int status, const std::string& where, const std::string& why) {
    const std::string reason = printable(why, 200);
    deps_.log({Level::warn,
               status == 502 ? "registry_not_reached" : "registry_led_elsewhere",
               "did not connect to a host for a lookup: " + reason,
               {{"host", where}}});
    send_all(peer_, "HTTP/1.1 " + std::to_string(status) + " " + reason +
                        "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }

  using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
  static Result<Addresses> resolve(const image::Peer& to) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed =
        ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (failed != 0) return Error{Code::unreachable, ::gai_strerror(failed)};
    return Addresses(found, ::freeaddrinfo);
  }

  Result<Fd> connect(const image::Peer& to, bool any_address) const {
    const Result<Addresses> found = resolve(to);
    if (!found) return found.error();
    const char* why = "none of its addresses accepted a connection";
    for (const addrinfo* address = found->get(); address != nullptr; address = address->ai_next) {
      if (!any_address && !image::is_public(*address->ai_addr)) {
        why = kNotPublic;
        continue;
      }
      if (Fd host = connect_to(*address); host) return host;
    }
    return Error{Code::unreachable, why};
  }

  // The upstream proxy resolves the name again. A name that only it can resolve is not checked.
  Result<Fd> connect_through_upstream(const image::Peer& to, bool any_address) const {
    if (!any_address)
      if (const Result<Addresses> found = resolve(to); found)
        for (const addrinfo* address = found->get(); address != nullptr; address = address->ai_next)
          if (!image::is_public(*address->ai_addr)) return Error{Code::unreachable, kNotPublic};
    const std::string where = show_host_port(to.host, to.port);
    Result<Fd> proxy = connect(deps_.upstream->peer(), true);
    if (!proxy)
      return Error{Code::unreachable, "the proxy of HTTPS_PROXY: " + proxy.error().message};
    std::string head;
    bool open = send_all(*proxy, "CONNECT " + where + " HTTP/1.1\r\nHost: " + where + "\r\n\r\n");
    while (open && head.find("\r\n\r\n") == std::string::npos) {
      pollfd polled{proxy->get(), POLLIN, 0};
      std::array<char, 1024> buffer;
      const ssize_t got = head.size() > deps_.limits.head_bytes || !wait(&polled, 1)
                              ? 0
                              : ::recv(proxy->get(), buffer.data(), buffer.size(), 0);
      open = got > 0;
      if (open) head.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::string status = head.substr(0, head.find("\r\n"));
    if (open && status.starts_with("HTTP/1.") && status.find(" 200 ") == 8) return proxy;
    return Error{Code::unreachable, "the proxy of HTTPS_PROXY opened no tunnel: " +
                                        (status.empty() ? "no response" : printable(status, 80))};
  }

  Fd connect_to(const addrinfo& to) const {
    Fd host(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!host) return {};
    const TimePoint connect_deadline = deps_.clock.now() + deps_.limits.connect_time;
    if (::connect(host.get(), to.ai_addr, to.ai_addrlen) == 0) return host;
    if (errno != EINPROGRESS) return {};
    pollfd polled{host.get(), POLLOUT, 0};
    while (!is_over() && deps_.clock.now() < connect_deadline &&
           ::poll(&polled, 1, static_cast<int>(kPollInterval.count())) <= 0) {
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(host.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (polled.revents == 0 || error != 0) return {};
    return host;
  }

  bool send_all(const Fd& to, std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      pollfd polled{to.get(), POLLOUT, 0};
      if (!bytes.empty() && !wait(&polled, 1)) return false;
    }
    return true;
  }

  // False when this direction is closed, or the limit of bytes is exceeded.
  bool forward(const Fd& from, const Fd& to) {
    std::array<char, 16 * 1024> buffer;
    const ssize_t got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    forwarded_bytes_ += static_cast<std::size_t>(got);
    return got > 0 && forwarded_bytes_ <= deps_.limits.tunnel_bytes &&
           send_all(to, {buffer.data(), static_cast<std::size_t>(got)});
  }

  void forward_both_ways(const Fd& host) {
    std::array<pollfd, 2> polled = {{{peer_.get(), POLLIN, 0}, {host.get(), POLLIN, 0}}};
    while (wait(polled.data(), polled.size())) {
      if (polled[0].revents != 0 && !forward(peer_, host)) return;
      if (polled[1].revents != 0 && !forward(host, peer_)) return;
    }
  }

  Fd peer_;
  const TunnelDependencies deps_;
  const std::stop_token stop_;
  const TimePoint deadline_ = deps_.clock.now() + deps_.limits.tunnel_time;
  std::string head_;
  std::size_t forwarded_bytes_ = 0;
};

}  // namespace

void serve_tunnel(Fd peer, const TunnelDependencies& dependencies, const std::stop_token& stop) {
  TunnelConnection(std::move(peer), dependencies, stop).serve();
}

}  // namespace cronlatch::registry
