// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <deque>

#include "store/redis/scripts.h"
#include "support/resp_frames.h"

namespace cronlatch::testing {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// ZADD <index> ..., or a script with the index as its only key.
bool enters_index(const std::vector<std::string>& request) {
  if (request[0] == "ZADD") return request.at(1).ends_with("index");
  return request[0].starts_with("EVAL") && request.at(2) == "1" && request.at(3).ends_with("index");
}

void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

RedisVerb verb_of(const std::vector<std::string>& request) {
  const std::string& command = request.at(0);
  if (command == "HELLO") return RedisVerb::hello;
  if (command == "TIME") return RedisVerb::time;
  if (enters_index(request)) return RedisVerb::index;
  if (!command.starts_with("EVAL")) return RedisVerb::other;
  const auto is = [&](const scripts::Script& script) {
    return request.at(1) == script.hash || request.at(1) == script.text;
  };
  if (is(scripts::acquire)) return RedisVerb::acquire;
  if (is(scripts::renew)) return RedisVerb::renew;
  if (is(scripts::release)) return RedisVerb::release;
  return RedisVerb::other;
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::reply_lost:
      return "reply_lost";
    case FaultKind::reply_closed:
      return "reply_closed";
    case FaultKind::reply_cut:
      return "reply_cut";
    case FaultKind::reply_duplicated:
      return "reply_duplicated";
    case FaultKind::reply_late:
      return "reply_late";
    case FaultKind::request_lost:
      return "request_lost";
    case FaultKind::request_late:
      return "request_late";
  }
  return "";
}

// One direction of a connection: received bytes, and bytes to send at a given time.
struct FaultProxy::Stream {
  struct Piece {
    std::string bytes;
    Clock::time_point due;
  };
  std::string arrived;
  std::deque<Piece> outgoing;

  // Not before bytes that were pushed earlier.
  void push(std::string bytes, std::chrono::milliseconds delay = {}) {
    Clock::time_point due = Clock::now() + delay;
    if (!outgoing.empty()) due = std::max(due, outgoing.back().due);
    outgoing.push_back({std::move(bytes), due});
  }
  bool is_due() const { return !outgoing.empty() && outgoing.front().due <= Clock::now(); }
  // False when the peer has closed.
  bool send_to(int fd) {
    while (is_due()) {
      std::string& bytes = outgoing.front().bytes;
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      bytes.erase(0, static_cast<std::size_t>(sent));
      if (bytes.empty()) outgoing.pop_front();
    }
    return true;
  }
};

struct FaultProxy::Connection {
  struct Awaited {
    bool strike = false;  // its reply gets the fault
    bool close = false;   // the connection is closed after its reply
  };
  int client = -1;
  int server = -1;
  Stream requests, replies;
  std::deque<Awaited> awaited;
  bool silent = false;   // received bytes are dropped
  bool closing = false;  // when `replies` has been sent

  ~Connection() {
    close_client();
    if (server >= 0) close(server);
  }
  void close_client() {
    if (client >= 0) close(client);
    client = -1;
  }
  // The connection of a closed client ends when the server has answered its late request.
  bool has_ended() const {
    return client < 0 && (silent || (requests.outgoing.empty() && awaited.empty()));
  }
};

FaultProxy::FaultProxy(int server_port, Fault fault)
    : server_port_(server_port), fault_(std::move(fault)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      pipe2(stop_, O_CLOEXEC) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
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
  return seen_;
}

int FaultProxy::struck() const {
  const std::lock_guard lock(mutex_);
  return struck_;
}

int FaultProxy::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

void FaultProxy::accept_client() {
  auto connection = std::make_unique<Connection>();
  connection->client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  connection->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  if (connection->client < 0 ||
      connect(connection->server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return;
  send_at_once(connection->client);
  send_at_once(connection->server);
  connections_.push_back(std::move(connection));
}

bool FaultProxy::strikes() {
  const bool strike = fault_.numbers.contains(++seen_);
  if (strike) ++struck_;
  return strike;
}

void FaultProxy::pass_requests(Connection& c) {
  while (const auto frame = take_frame(c.requests.arrived)) {
    if (c.silent) return;
    const std::vector<std::string> words = words_of(*frame);
    Connection::Awaited awaited;
    awaited.strike = fault_.concerns(words) && strikes();
    awaited.close = fault_.closes_after && fault_.closes_after(words);
    const bool late = awaited.strike && fault_.kind == FaultKind::request_late;
    if (awaited.strike && fault_.kind == FaultKind::request_lost) {
      c.silent = true;
      return;
    }
    c.requests.push(*frame, late ? fault_.delay : std::chrono::milliseconds(0));
    c.awaited.push_back(awaited);
  }
}

void FaultProxy::pass_replies(Connection& c) {
  while (auto frame = take_frame(c.replies.arrived)) {
    if (c.awaited.empty()) return;
    const Connection::Awaited awaited = c.awaited.front();
    c.awaited.pop_front();
    if (c.silent || c.closing) continue;
    c.closing = awaited.close;
    if (!awaited.strike) {
      c.replies.push(*frame);
      continue;
    }
    switch (fault_.kind) {
      case FaultKind::reply_lost:
        c.silent = true;
        break;
      case FaultKind::reply_closed:
        c.closing = true;
        break;
      case FaultKind::reply_cut:
        c.replies.push(frame->substr(0, frame->size() / 2));
        c.closing = true;
        break;
      case FaultKind::reply_duplicated:
        c.replies.push(*frame + *frame);
        break;
      case FaultKind::reply_late:
        c.replies.push(*frame, fault_.delay);
        break;
      case FaultKind::request_late:
        c.replies.push(*frame);
        break;
      case FaultKind::request_lost:
        break;
    }
  }
}

void FaultProxy::serve() {
  constexpr int kTickMs = 5;  // the resolution of delays
  std::vector<pollfd> fds;
  const auto receive = [](int fd, std::string& into) {
    char block[16'384];
    const ssize_t got = recv(fd, block, sizeof block, MSG_DONTWAIT);
    if (got > 0) into.append(block, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  };
  for (;;) {
    fds = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    bool waits_for_time = false;
    for (const auto& c : connections_) {
      fds.push_back({c->client, POLLIN, 0});
      fds.push_back({c->server, POLLIN, 0});
      waits_for_time |= !c->requests.outgoing.empty() || !c->replies.outgoing.empty();
    }
    poll(fds.data(), fds.size(), waits_for_time ? kTickMs : -1);
    if (fds[0].revents != 0) return;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      Connection& c = *connections_[i];
      if (fds[2 + 2 * i].revents != 0 && !receive(c.client, c.requests.arrived)) c.close_client();
      bool server_lives = fds[3 + 2 * i].revents == 0 || receive(c.server, c.replies.arrived);
      pass_requests(c);
      server_lives &= c.requests.send_to(c.server);
      pass_replies(c);
      if (c.client < 0)
        c.replies.outgoing.clear();
      else if (!c.replies.send_to(c.client) || !server_lives ||
               (c.closing && c.replies.outgoing.empty()))
        c.close_client();
      if (!server_lives) c.silent = true;
    }
    std::erase_if(connections_, [](const auto& c) { return c->has_ended(); });
    if (fds[1].revents != 0) accept_client();
  }
}

}  // namespace cronlatch::testing
