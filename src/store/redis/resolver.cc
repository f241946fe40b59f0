// SPDX-License-Identifier: Apache-2.0
// One c-ares channel per lookup: a new channel reads resolv.conf again, and so follows its changes.
#include "store/redis/resolver.h"

#include <ares.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errno_hint.h"
#include "base/fd.h"
#include "store/redis/address.h"

namespace cronlatch::redis {
namespace {

using Sockets = std::array<ares_socket_t, ARES_GETSOCK_MAXNUM>;

std::vector<Address> addresses_of(const ares_addrinfo& found, std::uint16_t port) {
  std::vector<Address> addresses;
  for (const ares_addrinfo_node* node = found.nodes; node != nullptr; node = node->ai_next) {
    const Address address = Address::from_sockaddr(*node->ai_addr, node->ai_addrlen, port);
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
      addresses.push_back(address);
  }
  return addresses;
}

// EMFILE or ENFILE when no descriptor is available, or 0.
int descriptor_limit() {
  const Fd probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return !probe && is_descriptor_limit(errno) ? errno : 0;
}

}  // namespace

Resolver::Resolver(std::string host, std::uint16_t port, ResolverSettings settings)
    : host_(std::move(host)),
      port_(port),
      settings_(std::move(settings)),
      channel_(nullptr, ares_destroy) {}

Resolver::~Resolver() = default;

bool Resolver::open_channel() {
  ares_options options{};
  // Otherwise nsswitch.conf selects the sources, and its modules are not available to c-ares.
  std::string lookups = "fb";
  options.lookups = lookups.data();
  options.timeout = static_cast<int>(settings_.try_timeout.count());
  options.tries = settings_.tries;
  int mask = ARES_OPT_LOOKUPS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
  std::vector<char*> domains;
  if (settings_.ndots >= 0) {
    for (std::string& domain : settings_.search) domains.push_back(domain.data());
    options.ndots = settings_.ndots;
    options.domains = domains.data();
    options.ndomains = static_cast<int>(domains.size());
    mask |= ARES_OPT_NDOTS | ARES_OPT_DOMAINS;
  }
  ares_channel channel = nullptr;
  if (ares_init_options(&channel, &options, mask) != ARES_SUCCESS) return false;
  channel_.reset(channel);
  return settings_.servers.empty() ||
         ares_set_servers_ports_csv(channel, settings_.servers.c_str()) == ARES_SUCCESS;
}

void Resolver::begin(TimePoint now) {
  channel_.reset();
  answer_.reset();
  deadline_.reset();
  if (const auto literal = Address::from_literal(host_, port_)) {
    answer_.emplace(std::vector<Address>{*literal});
    return;
  }
  if (!open_channel()) {
    answer_.emplace(
        Error{Code::system, "cannot set up the name lookup",
              errno_hint(descriptor_limit(), "check that /etc/resolv.conf is readable")});
    return;
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const auto done = [](void* self, int status, int, ares_addrinfo* found) {
    auto* resolver = static_cast<Resolver*>(self);
    if (status == ARES_EDESTRUCTION) return;
    std::vector<Address> addresses;
    if (found != nullptr) {
      addresses = addresses_of(*found, resolver->port_);
      ares_freeaddrinfo(found);
    }
    if (addresses.empty())
      resolver->answer_.emplace(resolver->failure(status));
    else
      resolver->answer_.emplace(std::move(addresses));
  };
  ares_getaddrinfo(channel_.get(), host_.c_str(), nullptr, &hints, done, this);
  set_deadline(now);
}

void Resolver::watch(PollSet& set) const {
  if (channel_ == nullptr || answer_) return;
  Sockets sockets;
  const int bits = ares_getsock(channel_.get(), sockets.data(), ARES_GETSOCK_MAXNUM);
  for (int i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    short events = 0;
    if (ARES_GETSOCK_READABLE(bits, i)) events |= POLLIN;
    if (ARES_GETSOCK_WRITABLE(bits, i)) events |= POLLOUT;
    if (events != 0) set.add(sockets[static_cast<std::size_t>(i)], events);
  }
  if (deadline_) set.wake_by(*deadline_);
}

std::optional<Result<std::vector<Address>>> Resolver::step(const PollSet& set, TimePoint now) {
  if (channel_ != nullptr && !answer_) {
    process(set);
    set_deadline(now);
  }
  if (!answer_) return std::nullopt;
  channel_.reset();
  return std::exchange(answer_, std::nullopt);
}

void Resolver::process(const PollSet& set) {
  Sockets sockets;
  const int bits = ares_getsock(channel_.get(), sockets.data(), ARES_GETSOCK_MAXNUM);
  for (int i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    if (!ARES_GETSOCK_READABLE(bits, i) && !ARES_GETSOCK_WRITABLE(bits, i)) continue;
    const ares_socket_t fd = sockets[static_cast<std::size_t>(i)];
    const short ready = set.ready(fd);
    if (ready == 0) continue;
    const bool readable = (ready & (POLLIN | POLLERR | POLLHUP)) != 0;
    const bool writable = (ready & POLLOUT) != 0;
    ares_process_fd(channel_.get(), readable ? fd : ARES_SOCKET_BAD,
                    writable ? fd : ARES_SOCKET_BAD);
  }
  ares_process_fd(channel_.get(), ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // its timeouts
}

void Resolver::set_deadline(TimePoint now) {
  timeval left{};
  if (ares_timeout(channel_.get(), nullptr, &left) == nullptr)
    deadline_.reset();
  else
    // Rounded up: an early wakeup would repeat at once.
    deadline_ = now + Seconds(left.tv_sec) + Micros(left.tv_usec) + Millis(1);
}

Error Resolver::failure(int status) const {
  const std::string name = "the name " + host_;
  // c-ares reports a failed socket() as a nameserver that refused.
  if (const int limit = descriptor_limit())
    return {Code::unreachable, "cannot look up " + name + ": " + std::strerror(limit),
            errno_hint(limit, "")};
  if (status == ARES_ENOTFOUND || status == ARES_ENODATA)
    return {Code::unreachable, name + " does not exist",
            "check the host in store, and the search domains in /etc/resolv.conf"};
  if (status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED)
    return {Code::unreachable, "no nameserver answered for " + name,
            "check the nameservers in /etc/resolv.conf"};
  return {Code::unreachable, "cannot look up " + name + ": " + ares_strerror(status),
          "check the host in store"};
}

}  // namespace cronlatch::redis
