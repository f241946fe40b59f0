// SPDX-License-Identifier: Apache-2.0
// See relay.h. It serves one connection at a time, because a run has one connection.
#include "relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace bench {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_all(int fd, const char* bytes, ssize_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes += sent;
    size -= sent;
  }
}

// Without TCP_NODELAY the Nagle delay of the relay would be measured.
void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Relay::Relay(int server_port) : server_port_(server_port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (pipe(stop_pipe_) != 0 ||
      bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

Relay::~Relay() {
  if (thread_.joinable()) stop();
  close(listener_);
  close(stop_pipe_[0]);
}

Traffic Relay::stop() {
  close(stop_pipe_[1]);
  thread_.join();
  return seen_;
}

void Relay::serve() {
  while (true) {
    std::array<pollfd, 2> fds{{{listener_, POLLIN, 0}, {stop_pipe_[0], POLLIN, 0}}};
    poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) serve_connection(client);
  }
}

void Relay::serve_connection(int client) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  send_at_once(client);
  send_at_once(server);
  ++seen_.connections;
  ++seen_.round_trips;  // the SYN
  std::string requests;
  bool client_sent_last = false;
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::array<char, 16384> buffer;
    while (true) {
      std::array<pollfd, 2> fds{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
      poll(fds.data(), fds.size(), -1);
      const bool from_client = fds[0].revents != 0;
      const ssize_t got = read(from_client ? client : server, buffer.data(), buffer.size());
      if (got <= 0) break;
      if (from_client) requests.append(buffer.data(), static_cast<std::size_t>(got));
      if (!from_client && client_sent_last) ++seen_.round_trips;
      client_sent_last = from_client;
      send_all(from_client ? server : client, buffer.data(), got);
    }
  }
  for (std::string& word : resp_commands(requests)) seen_.commands.push_back(std::move(word));
  close(client);
  close(server);
}

std::vector<std::string> resp_commands(const std::string& bytes) {
  std::vector<std::string> words;
  std::size_t at = 0;
  const auto number = [&](char mark) -> long {
    if (at >= bytes.size() || bytes[at] != mark) return -1;
    const std::size_t end = bytes.find("\r\n", at);
    if (end == std::string::npos) return -1;
    const long value = std::strtol(bytes.c_str() + at + 1, nullptr, 10);
    at = end + 2;
    return value;
  };
  while (true) {
    const long parts = number('*');
    if (parts < 1) return words;
    for (long i = 0; i < parts; ++i) {
      const long length = number('$');
      if (length < 0 || at + static_cast<std::size_t>(length) > bytes.size()) return words;
      if (i == 0) words.push_back(bytes.substr(at, static_cast<std::size_t>(length)));
      at += static_cast<std::size_t>(length) + 2;
    }
  }
}

}  // namespace bench
