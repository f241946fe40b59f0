// SPDX-License-Identifier: Apache-2.0
#include "message_proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "support/loopback.h"

namespace cronlatch::testing {
namespace {

bool send_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive(int fd, std::string& into) {
  char block[16'384];
  const ssize_t got = recv(fd, block, sizeof block, 0);
  if (got > 0) into.append(block, static_cast<std::size_t>(got));
  return got > 0;
}

// A type, then a length that counts itself. 0: not complete yet.
std::size_t message_size(const std::string& bytes) {
  if (bytes.size() < 5) return 0;
  std::size_t length = 0;
  for (std::size_t i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return bytes.size() < length + 1 ? 0 : length + 1;
}

}  // namespace

MessageProxy::MessageProxy(int server_port, MessageFault fault, int number,
                           std::chrono::milliseconds delay)
    : server_port_(server_port), fault_(fault), number_(number), delay_(delay) {
  listener_ = listen_on_loopback(port_);
  accepting_ = std::thread([this] { serve(); });
}

MessageProxy::~MessageProxy() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  close(listener_);
  for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  for (std::thread& thread : threads_) thread.join();
  for (const int fd : sockets_) close(fd);
}

void MessageProxy::serve() {
  for (;;) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets_.insert(sockets_.end(), {client, server});
    const sockaddr_in address = loopback(server_port_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      shutdown(client, SHUT_RDWR);
      continue;
    }
    for (const int fd : {client, server}) send_at_once(fd);
    threads_.emplace_back([=, this] { pass_requests(client, server); });
    threads_.emplace_back([=, this] { pass_messages(client, server); });
  }
}

void MessageProxy::pass_requests(int client, int server) {
  std::string bytes;
  while (receive(client, bytes) && send_all(server, bytes)) bytes.clear();
  shutdown(server, SHUT_WR);
}

void MessageProxy::pass_messages(int client, int server) {
  std::string bytes;
  bool is_silent = false;
  while (receive(server, bytes))
    while (const std::size_t size = message_size(bytes)) {
      if (!pass_message(client, bytes.substr(0, size), is_silent)) {
        shutdown(client, SHUT_RDWR);
        return;
      }
      bytes.erase(0, size);
    }
  if (!is_silent) shutdown(client, SHUT_RDWR);
}

bool MessageProxy::pass_message(int client, const std::string& message, bool& is_silent) {
  if (is_silent) return true;
  if (++seen_ == number_) {
    if (fault_ == MessageFault::closed) return false;
    if (fault_ == MessageFault::lost) {
      is_silent = true;
      return true;
    }
    std::this_thread::sleep_for(delay_);
  }
  send_all(client, message);  // a client that has closed reads nothing more
  return true;
}

}  // namespace cronlatch::testing
