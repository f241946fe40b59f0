// SPDX-License-Identifier: Apache-2.0
// The stages of a connection; connection_errors.cc: why one failed. Sends with MSG_NOSIGNAL: a
// SIGPIPE would terminate the wrapper.
#include "store/redis/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace cronlatch::redis {
namespace {

constexpr std::size_t kBlock = 16'384;
constexpr int kMaxBlocks = 8;  // per step, so that a flood of bytes cannot delay a deadline
constexpr std::size_t kMaxRemembered = 16;

void remember(std::vector<Address>& failed, const Address& address) {
  failed.push_back(address);
  if (failed.size() > kMaxRemembered) failed.erase(failed.begin());
}

}  // namespace

const ServerKind kRedisServer = {
    "redis", "",
    "check that this port uses TLS; a port without TLS needs redis:// instead of rediss://",
    "see the server's log; a port with TLS needs rediss://"};

Connection::Connection(Discovery& discovery, std::vector<Address>& failed, TlsContext* tls,
                       std::string where, TimePoint now, std::optional<TlsPeer> tls_peer,
                       const ServerKind& kind)
    : discovery_(discovery),
      failed_(failed),
      tls_(tls),
      where_(std::move(where)),
      tls_peer_(std::move(tls_peer)),
      kind_(kind) {
  discovery_.begin(now);
}

void Connection::watch(PollSet& set) const {
  switch (stage_) {
    case Stage::resolving:
      return discovery_.watch(set);
    case Stage::dialing:
      return dialer_->watch(set);
    case Stage::requesting_tls:
    case Stage::handshaking:
    case Stage::open:
      return set.add(socket_.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT));
    case Stage::failed:
      return;
  }
}

void Connection::step(const PollSet& set, TimePoint now) {
  switch (stage_) {
    case Stage::resolving:
      return resolve(set, now);
    case Stage::dialing:
      return dial(set, now);
    case Stage::requesting_tls:
    case Stage::handshaking:
    case Stage::open:
      if ((set.ready(socket_.get()) & (POLLIN | POLLERR | POLLHUP)) != 0) receive();
      return;
    case Stage::failed:
      return;
  }
}

void Connection::resolve(const PollSet& set, TimePoint now) {
  auto found = discovery_.step(set, now);
  if (!found) return;
  if (!*found) return fail(found->error(), true);
  dialer_.emplace(dial_order(std::move(*found).value(), failed_), now);
  stage_ = Stage::dialing;
  if (tls_ != nullptr) {
    // The slowest part of TLS runs while the SYN is in transit.
    if (Status ready = tls_->prepare(); !ready) return fail(ready.error(), false);
  }
  // When the kernel refuses a connect() at once (no route, a firewall), there is no descriptor to
  // wait for.
  dial(PollSet{}, now);
}

void Connection::dial(const PollSet& set, TimePoint now) {
  auto dialed = dialer_->step(set, now);
  if (!dialed) return;
  for (const Address& address : dialer_->failed()) remember(failed_, address);
  if (*dialed)
    connected(std::move(*dialed).value());
  else
    fail(dialed->error(), true);
}

void Connection::connected(Dialed dialed) {
  socket_ = std::move(dialed.socket);
  peer_ = dialed.address;
  dialer_.reset();
  if (tls_ == nullptr) {
    stage_ = Stage::open;
    return;
  }
  if (kind_.tls_request.empty()) return start_tls();
  stage_ = Stage::requesting_tls;
  out_ = kind_.tls_request;
}

void Connection::start_tls() {
  auto stream = tls_peer_ ? tls_->open(*tls_peer_) : tls_->open();
  if (!stream) return fail(stream.error(), false);
  stream_ = std::move(stream).value();
  stage_ = Stage::handshaking;
  stream_->handshake();
}

// One byte. More bytes could only come from an attacker: nothing was sent that asks for them, and
// they must not be read as if they were encrypted (CVE-2021-23222).
void Connection::read_tls_answer(std::string_view wire) {
  if (wire == "S") return start_tls();
  mark_peer_failed();
  if (wire == "N")
    return fail({Code::tls, "tls to " + where_ + ": the server does not use TLS",
                 std::string(kind_.no_tls_hint)},
                false);
  fail({Code::unreachable,
        std::string(kind_.name) + " at " + where_ + ": an invalid answer to the request for TLS",
        std::string(kind_.no_tls_hint)},
       true);
}

void Connection::receive() {
  char block[kBlock];
  for (int i = 0; i < kMaxBlocks; ++i) {
    const ssize_t got = recv(socket_.get(), block, sizeof block, 0);
    if (got > 0) {
      take({block, static_cast<std::size_t>(got)});
      if (stage_ == Stage::failed || static_cast<std::size_t>(got) < sizeof block) return;
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    return fail_connection_closed(got == 0 ? "" : std::strerror(errno));
  }
}

void Connection::take(std::string_view wire) {
  if (stage_ == Stage::requesting_tls) return read_tls_answer(wire);
  if (stream_ == nullptr) {
    in_ += wire;
    has_received_ = true;
    return;
  }
  stream_->receive(wire);
  if (stage_ == Stage::handshaking && stream_->handshake()) stage_ = Stage::open;
  if (stage_ == Stage::open) {
    const std::string plain = stream_->read();
    has_received_ = has_received_ || !plain.empty();
    in_ += plain;
  }
  if (stream_->failure()) return fail_tls(*stream_->failure());
  if (stream_->ended()) fail_connection_closed("");
}

void Connection::write(std::string_view plain) {
  if (stage_ != Stage::open) return;
  if (stream_ == nullptr)
    out_ += plain;
  else
    stream_->write(plain);
}

void Connection::flush() {
  if (stream_ != nullptr) out_ += stream_->outgoing();
  if (!socket_) return;
  while (!out_.empty()) {
    const ssize_t sent = send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      out_.erase(0, static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || stage_ == Stage::failed) return;
    const int error_number = errno;
    out_.clear();
    // A TLS alert or an error answer that arrived before the end explains more than the reset.
    receive();
    if (!failure_) fail_connection_closed(std::strerror(error_number));
    return;
  }
}

std::string Connection::read() { return std::exchange(in_, {}); }

void Connection::fail(Error error, bool transient) {
  if (failure_) return;
  stage_ = Stage::failed;
  failure_ = Failure{std::move(error), transient};
}

void Connection::mark_peer_failed() {
  if (peer_) remember(failed_, *peer_);
  if (!dialer_) return;
  for (const Address& address : dialer_->failed()) remember(failed_, address);
  for (const Address& address : dialer_->pending()) remember(failed_, address);
}

}  // namespace cronlatch::redis
