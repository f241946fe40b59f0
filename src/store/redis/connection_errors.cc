// SPDX-License-Identifier: Apache-2.0
// The errors of a connection: the step that failed, and its correction.
#include "store/redis/connection.h"

namespace cronlatch::redis {

void Connection::fail_connection_closed(std::string_view how) {
  mark_peer_failed();
  Error error = error_of(RedisErrorClass::eof);
  if (!how.empty()) error.message += " (" + quotable(how) + ")";
  if (stage_ == Stage::handshaking) {
    error.message += " during the TLS handshake";
    error.hint = kind_.no_tls_hint;
  } else if (stream_ == nullptr && !has_received_) {
    error.hint = kind_.tls_hint;
  }
  fail(std::move(error), true);
}

// After the first plain bytes, an invalid TLS record is a network error and not a refusal.
void Connection::fail_tls(Error error) {
  flush();  // sends the TLS alert, which the server logs
  if (has_received_) return fail_connection_closed("damaged TLS record");
  mark_peer_failed();
  fail(std::move(error), false);
}

Error Connection::error_of(RedisErrorClass failure) const {
  const RedisErrorRow& row = redis_error_row(failure);
  return {row.code, std::string(kind_.name) + " at " + where_ + ": " + std::string(row.meaning),
          std::string(row.hint)};
}

Error Connection::timeout_error() const {
  Error error = error_of(RedisErrorClass::timeout);
  error.message += " (" + std::string(current_step()) + ")";
  // A Redis without TLS reads the TLS hello as an incomplete command and waits for the rest.
  if (stage_ == Stage::handshaking) error.hint = kind_.no_tls_hint;
  return error;
}

std::string_view Connection::current_step() const {
  switch (stage_) {
    case Stage::resolving:
      return "looking up its name";
    case Stage::dialing:
      return "connecting";
    case Stage::requesting_tls:
    case Stage::handshaking:
      return "the TLS handshake";
    case Stage::open:
    case Stage::failed:
      return "waiting for an answer";
  }
  return "";
}

}  // namespace cronlatch::redis
