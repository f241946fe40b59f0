// SPDX-License-Identifier: Apache-2.0
#include "support/fault_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/resp_frames.h"

namespace cronlatch::testing {
namespace {

using Clock = std::chrono::steady_clock;

// False when the peer has closed.
bool receive(int fd, std::string& into) {
  char block[16'384];
  const ssize_t got = recv(fd, block, sizeof block, MSG_DONTWAIT);
  if (got > 0) into.append(block, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// The same; what was sent is removed from `bytes`.
bool send_now(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

// Not before bytes that were pushed earlier.
void DelayedBytes::push(std::string bytes, std::chrono::milliseconds delay) {
  Clock::time_point due = Clock::now() + delay;
  if (!pieces_.empty()) due = std::max(due, pieces_.back().due);
  pieces_.push_back({std::move(bytes), due});
}

std::string DelayedBytes::take_due() {
  std::string due;
  for (; !pieces_.empty() && pieces_.front().due <= Clock::now(); pieces_.pop_front())
    due += pieces_.front().bytes;
  return due;
}

FaultConnection::FaultConnection(int client, int server, SSL_CTX* tls)
    : client_(client), server_(server) {
  if (tls != nullptr) tls_.emplace(tls);
}

FaultConnection::~FaultConnection() {
  close_client();
  if (server_ >= 0) close(server_);
}

void FaultConnection::close_client() {
  if (client_ >= 0) close(client_);
  client_ = -1;
}

bool FaultConnection::has_ended() const {
  return client_ < 0 &&
         (silent_ || (to_server_.empty() && server_wire_.empty() && awaited_.empty()));
}

void FaultConnection::step(bool client_ready, bool server_ready, const Fault& fault,
                           FaultCounter& counter) {
  if (client_ready && client_ >= 0 && !receive_from_client()) close_client();
  bool server_lives = !server_ready || receive(server_, replies_);
  pass_requests(fault, counter);
  server_wire_ += to_server_.take_due();
  server_lives &= send_now(server_, server_wire_);
  pass_replies(fault);
  if (client_ < 0)
    to_client_.clear();
  else if (!send_to_client() || !server_lives ||
           (closing_ && to_client_.empty() && client_wire_.empty()))
    close_client();
  if (!server_lives) silent_ = true;
}

bool FaultConnection::receive_from_client() {
  std::string wire;
  const bool lives = receive(client_, wire);
  requests_ += tls_ ? tls_->receive(wire) : wire;
  return lives;
}

bool FaultConnection::send_to_client() {
  const std::string due = to_client_.take_due();
  client_wire_ += tls_ ? tls_->send(due) : due;
  return send_now(client_, client_wire_);
}

void FaultConnection::pass_requests(const Fault& fault, FaultCounter& counter) {
  while (const auto frame = take_frame(requests_)) {
    if (silent_) return;
    if (!again_.empty()) to_client_.push(std::exchange(again_, ""));
    const Fault::Request words = words_of(*frame);
    Awaited awaited;
    awaited.strike = counter.strikes(fault, words);
    awaited.close = fault.closes_after && fault.closes_after(words);
    const bool late = awaited.strike && fault.kind == FaultKind::request_late;
    if (awaited.strike && fault.kind == FaultKind::request_lost) {
      silent_ = true;
      return;
    }
    to_server_.push(*frame, late ? fault.delay : std::chrono::milliseconds(0));
    awaited_.push_back(awaited);
  }
}

void FaultConnection::pass_replies(const Fault& fault) {
  while (const auto frame = take_frame(replies_)) {
    if (awaited_.empty()) return;
    const Awaited awaited = awaited_.front();
    awaited_.pop_front();
    if (silent_ || closing_) continue;
    closing_ = awaited.close;
    if (awaited.strike)
      strike(*frame, fault);
    else
      to_client_.push(*frame);
  }
}

void FaultConnection::strike(const std::string& frame, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::reply_lost:
      silent_ = true;
      return;
    case FaultKind::reply_closed:
      closing_ = true;
      return;
    case FaultKind::reply_cut:
      to_client_.push(frame.substr(0, frame.size() / 2));
      closing_ = true;
      return;
    case FaultKind::reply_stalled:
      to_client_.push(frame.substr(0, frame.size() / 2));
      silent_ = true;
      return;
    case FaultKind::reply_duplicated:
      return to_client_.push(frame + frame);
    case FaultKind::reply_repeated:
      again_ = frame;
      return to_client_.push(frame);
    case FaultKind::reply_late:
      return to_client_.push(frame, fault.delay);
    case FaultKind::request_late:
      return to_client_.push(frame);
    case FaultKind::request_lost:
      return;
  }
}

}  // namespace cronlatch::testing
