// SPDX-License-Identifier: Apache-2.0
// Staggered, non-blocking connects. Destroying the Dialer closes the attempts that were not used.
#include "store/redis/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"

namespace cronlatch::redis {
namespace {

void set_socket_option(int fd, int level, int option, int value) {
  // The connection works without the option, so an error is ignored.
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

// During a request op-timeout detects a dead peer; keepalive detects it between requests.
void tune(int fd) {
  set_socket_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_socket_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_socket_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_socket_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_socket_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

int connect_error(int fd) {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &size) != 0) return errno;
  return error_number;
}

// `ready` can belong to a closed socket that had the same number, so this reads the kernel's state.
bool is_connected(int fd) {
  sockaddr_storage peer;
  socklen_t size = sizeof peer;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

std::vector<Address> alternate_families(const std::vector<Address>& addresses) {
  std::vector<Address> order;
  std::vector<Address> rest = addresses;
  while (!rest.empty()) {
    const int last = order.empty() ? AF_UNSPEC : order.back().family();
    auto next = std::find_if(rest.begin(), rest.end(),
                             [last](const Address& a) { return a.family() != last; });
    if (next == rest.end()) next = rest.begin();
    order.push_back(*next);
    rest.erase(next);
  }
  return order;
}

}  // namespace

std::vector<Address> dial_order(std::vector<Address> addresses,
                                const std::vector<Address>& failed) {
  addresses = alternate_families(addresses);
  const auto when_failed = [&failed](const Address& address) {
    const auto last = std::find(failed.rbegin(), failed.rend(), address);
    return failed.rend() - last;  // 0: never
  };
  std::stable_sort(addresses.begin(), addresses.end(), [&](const Address& a, const Address& b) {
    return when_failed(a) < when_failed(b);
  });
  return addresses;
}

Dialer::Dialer(std::vector<Address> addresses, TimePoint now) : waiting_(std::move(addresses)) {
  std::reverse(waiting_.begin(), waiting_.end());
  start_next(now);
}

void Dialer::start_next(TimePoint now) {
  next_at_.reset();
  while (!waiting_.empty()) {
    const Address address = waiting_.back();
    waiting_.pop_back();
    Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) {
      add_failure(address, errno);
      continue;
    }
    tune(socket.get());
    if (connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
      add_failure(address, errno);
      continue;
    }
    attempts_.push_back({std::move(socket), address});
    if (!waiting_.empty()) next_at_ = now + kDialStagger;
    return;
  }
}

void Dialer::add_failure(const Address& address, int error_number) {
  failed_.push_back(address);
  last_errno_ = error_number;
  last_error_ = "cannot connect to " + address.text() + ": " + std::strerror(error_number);
}

void Dialer::watch(PollSet& set) const {
  for (const Attempt& attempt : attempts_) set.add(attempt.socket.get(), POLLOUT);
  if (next_at_) set.wake_by(*next_at_);
}

std::optional<Result<Dialed>> Dialer::step(const PollSet& set, TimePoint now) {
  for (std::size_t i = 0; i < attempts_.size();) {
    Attempt& attempt = attempts_[i];
    if (set.ready(attempt.socket.get()) == 0) {
      ++i;
      continue;
    }
    const int error_number = connect_error(attempt.socket.get());
    if (error_number == 0) {
      if (is_connected(attempt.socket.get()))
        return Result<Dialed>(Dialed{std::move(attempt.socket), attempt.address});
      ++i;
      continue;
    }
    add_failure(attempt.address, error_number);
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    start_next(now);
  }
  if (next_at_ && now >= *next_at_) start_next(now);
  if (!attempts_.empty()) return std::nullopt;
  return Result<Dialed>(
      Error{Code::unreachable, last_error_,
            errno_hint(last_errno_, "check host and port in store, and that the server runs")});
}

std::vector<Address> Dialer::pending() const {
  std::vector<Address> addresses;
  for (const Attempt& attempt : attempts_) addresses.push_back(attempt.address);
  return addresses;
}

}  // namespace cronlatch::redis
