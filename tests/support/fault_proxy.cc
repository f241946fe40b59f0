// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "support/loopback.h"

namespace cronlatch::testing {

FaultProxy::FaultProxy(int server_port, Fault fault, std::shared_ptr<SSL_CTX> tls)
    : server_port_(server_port), fault_(std::move(fault)), tls_(std::move(tls)) {
  listener_ = listen_on_loopback(port_);
  if (pipe2(stop_, O_CLOEXEC) != 0) std::abort();
  thread_ = std::thread([this] { serve(); });
}

FaultProxy::~FaultProxy() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

int FaultProxy::seen() const {
  const std::lock_guard lock(mutex_);
  return counter_.seen;
}

int FaultProxy::struck() const {
  const std::lock_guard lock(mutex_);
  return counter_.struck;
}

int FaultProxy::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

void FaultProxy::accept_client() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto connection = std::make_unique<FaultConnection>(client, server, tls_.get());
  const sockaddr_in address = loopback(server_port_);
  if (client < 0 ||
      connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return;
  send_at_once(client);
  send_at_once(server);
  connections_.push_back(std::move(connection));
}

void FaultProxy::serve() {
  constexpr int kTickMs = 5;  // the resolution of delays
  std::vector<pollfd> fds;
  for (;;) {
    fds = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    bool waits_for_time = false;
    for (const auto& c : connections_) {
      fds.push_back({c->client(), POLLIN, 0});
      fds.push_back({c->server(), POLLIN, 0});
      waits_for_time |= c->waits_for_time();
    }
    poll(fds.data(), fds.size(), waits_for_time ? kTickMs : -1);
    if (fds[0].revents != 0) return;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < connections_.size(); ++i)
      connections_[i]->step(fds[2 + 2 * i].revents != 0, fds[3 + 2 * i].revents != 0, fault_,
                            counter_);
    std::erase_if(connections_, [](const auto& c) { return c->has_ended(); });
    if (fds[1].revents != 0) accept_client();
  }
}

}  // namespace cronlatch::testing
