// SPDX-License-Identifier: Apache-2.0
#include "support/redis_peer.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "support/resp_frames.h"

namespace cronlatch::testing {
namespace {

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

}  // namespace

const std::string RedisPeer::kSilence = "<silence>";
const std::string RedisPeer::kHangUp = "<hang up>";

std::string RedisPeer::usual(const Command& command) {
  if (command[0] == "HELLO")
    return "*4\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk("7.0.15");
  if (command[0] != "TIME") return "+OK\r\n";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return "*2\r\n" + bulk(std::to_string(us / 1'000'000)) + bulk(std::to_string(us % 1'000'000));
}

RedisPeer::Script RedisPeer::to_eval(std::string answer) {
  return [answer = std::move(answer)](const Command& command) {
    return command[0].starts_with("EVAL") ? answer : usual(command);
  };
}

RedisPeer::RedisPeer(Script script, Pace pace, std::string greeting, At at)
    : script_(std::move(script)), pace_(pace), greeting_(std::move(greeting)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(at.port));
  inet_pton(AF_INET, at.ip, &address.sin_addr);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || pipe(stop_) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

RedisPeer::~RedisPeer() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

std::vector<RedisPeer::Command> RedisPeer::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

// Waits for the descriptor; true when the test is over instead.
bool RedisPeer::stopping(int also, short events) {
  pollfd fds[] = {{stop_[0], POLLIN, 0}, {also, events, 0}};
  poll(fds, 2, -1);
  return fds[0].revents != 0;
}

void RedisPeer::serve() {
  while (!stopping(listener_, POLLIN)) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    ++connections_;
    talk(client);
    close(client);
  }
}

void RedisPeer::talk(int client) {
  const int on = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!greeting_.empty() && !reply(client, greeting_)) return;
  std::string bytes;
  char block[16'384];
  while (!stopping(client, POLLIN)) {
    const ssize_t got = recv(client, block, sizeof block, 0);
    if (got <= 0) return;
    bytes.append(block, static_cast<std::size_t>(got));
    while (const auto frame = take_frame(bytes)) {
      const Command command = words_of(*frame);
      {
        const std::lock_guard lock(mutex_);
        commands_.push_back(command);
      }
      const std::string answer = script_(command);
      if (answer == kHangUp) return;
      if (answer != kSilence && !reply(client, answer)) return;
    }
  }
}

bool RedisPeer::reply(int client, const std::string& answer) {
  const std::size_t slice = pace_ == Pace::at_once ? answer.size() : 1;
  for (std::size_t at = 0; at < answer.size();) {
    if (stopping(client, POLLOUT)) return false;
    const std::size_t size = std::min(slice, answer.size() - at);
    const ssize_t sent = send(client, answer.data() + at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) at += static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace cronlatch::testing
