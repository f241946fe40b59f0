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
#include "base/text.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kLookAround{100};

class Serving {
 public:
  Serving(Fd peer, const TunnelParts& parts, const std::stop_token& stop)
      : peer_(std::move(peer)), parts_(parts), stop_(stop) {}

  void serve() {
    if (!read_request()) return;
    const Result<Wanted> wanted = read_head(head_, parts_.secret);
    if (!wanted) return refuse(400, "nobody", wanted.error().message);
    const std::string where = wanted->peer.host + ":" + std::to_string(wanted->peer.port);
    const auto leave = parts_.policy.allows(wanted->peer, wanted->scheme);
    if (!leave) return refuse(403, where, leave.error().message);
    const Result<Fd> host = connect(wanted->peer, leave->any_address);
    if (!host) return refuse(502, where, host.error().message);
    const bool tunnel = wanted->scheme == image::RegistryPolicy::Scheme::https;
    const std::string hello = "HTTP/1.1 200 Connected\r\n\r\n";
    if (tunnel ? send_all(peer_, hello) : send_all(*host, wanted->first_bytes)) relay(*host);
  }

 private:
  bool over() const { return stop_.stop_requested() || parts_.clock.now() >= deadline_; }

  // True when one of them is ready, false when it is too late.
  bool wait(pollfd* polled, nfds_t count) const {
    while (!over()) {
      const int ready = ::poll(polled, count, static_cast<int>(kLookAround.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  bool read_request() {
    while (head_.find("\r\n\r\n") == std::string::npos) {
      pollfd polled{peer_.get(), POLLIN, 0};
      std::array<char, 4096> buffer;
      if (head_.size() > parts_.limits.head_bytes || !wait(&polled, 1)) return false;
      const ssize_t got = ::recv(peer_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return false;
      head_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return head_.ends_with("\r\n\r\n");  // nothing may come before we have said yes
  }

  // The client tells people what stands behind the number.
  void refuse(int status, const std::string& where, const std::string& why) {
    const std::string reason = printable(why, 200);
    parts_.log({Level::warn,
                status == 502 ? "registry_not_reached" : "registry_led_elsewhere",
                "did not connect for a look-up: " + reason,
                {{"host", where}}});
    send_all(peer_, "HTTP/1.1 " + std::to_string(status) + " " + reason +
                        "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }

  Result<Fd> connect(const image::Peer& to, bool any_address) const {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed =
        ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (failed != 0) return Error{Code::unreachable, ::gai_strerror(failed)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
    const char* why = "no address answers";
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      if (!any_address && !image::is_public(*one->ai_addr)) {
        why = "its name leads to an address that is not public";
        continue;
      }
      if (Fd host = dial(*one); host) return host;
    }
    return Error{Code::unreachable, why};
  }

  Fd dial(const addrinfo& to) const {
    Fd host(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!host) return {};
    const TimePoint give_up = parts_.clock.now() + parts_.limits.connect_time;
    if (::connect(host.get(), to.ai_addr, to.ai_addrlen) == 0) return host;
    if (errno != EINPROGRESS) return {};
    pollfd polled{host.get(), POLLOUT, 0};
    while (!over() && parts_.clock.now() < give_up &&
           ::poll(&polled, 1, static_cast<int>(kLookAround.count())) <= 0) {
    }
    int trouble = 0;
    socklen_t size = sizeof trouble;
    ::getsockopt(host.get(), SOL_SOCKET, SO_ERROR, &trouble, &size);
    if (polled.revents == 0 || trouble != 0) return {};
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

  // False when this way is over.
  bool pass_on(const Fd& from, const Fd& to) {
    std::array<char, 16 * 1024> buffer;
    const ssize_t got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    passed_ += static_cast<std::size_t>(got);
    return got > 0 && passed_ <= parts_.limits.tunnel_bytes &&
           send_all(to, {buffer.data(), static_cast<std::size_t>(got)});
  }

  void relay(const Fd& host) {
    std::array<pollfd, 2> polled = {{{peer_.get(), POLLIN, 0}, {host.get(), POLLIN, 0}}};
    while (wait(polled.data(), polled.size())) {
      if (polled[0].revents != 0 && !pass_on(peer_, host)) return;
      if (polled[1].revents != 0 && !pass_on(host, peer_)) return;
    }
  }

  Fd peer_;
  const TunnelParts parts_;
  const std::stop_token stop_;
  const TimePoint deadline_ = parts_.clock.now() + parts_.limits.tunnel_time;
  std::string head_;
  std::size_t passed_ = 0;
};

}  // namespace

void serve_tunnel(Fd peer, const TunnelParts& parts, const std::stop_token& stop) {
  Serving(std::move(peer), parts, stop).serve();
}

}  // namespace cronlatch::registry
