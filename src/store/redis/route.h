// SPDX-License-Identifier: Apache-2.0
// Route: finds the server of a store that consists of several servers, and decides whether a
// request that failed is sent again. RedisStore uses it for one request at a time. A store with one
// server has no Route. Never blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "core/store.h"
#include "core/store_credentials.h"
#include "core/store_url.h"
#include "store/redis/connection.h"

namespace cronlatch::redis {

// The server of the next connection.
struct NextServer {
  StoreHost host;
  TimePoint connect_by{};    // a connection without a login at this time has failed
  bool asking = false;       // each request is preceded by ASKING
  std::size_t replicas = 0;  // of the server, where the Route counts them
};

// How a failed request is sent again.
struct Retry {
  Millis pause{};
  bool reconnect = true;  // false: on the same connection
};

class Route {
 public:
  virtual ~Route() = default;
  // A new request: the limits of its retries begin.
  virtual void reset() = 0;
  // Starts to find the server and drops a search in progress. `give_up`: of the request.
  virtual void begin(TimePoint now, TimePoint give_up) = 0;
  virtual void watch(PollSet& set) const = 0;
  // The server, or why none was found. Once per begin().
  virtual std::optional<std::variant<NextServer, Failure>> step(const PollSet& set,
                                                                TimePoint now) = 0;
  // The connection to the server failed or ended. No value: the request fails.
  virtual std::optional<Retry> after_failure(const Failure& failure) = 0;
  // The server answered with this error, without its leading '-', and executed nothing.
  virtual std::optional<Retry> after_error(std::string_view text) = 0;
  // The error when the search of begin() did not end before the deadline of the request.
  virtual Error timeout_error() const = 0;
  // New logins of the servers that the search queries.
  virtual void set_credentials(const StoreCredentials&) {}
};

// The pause before retry number `retries` (from 0), when a retry at once would not help.
inline Millis retry_pause(std::size_t retries) {
  constexpr std::size_t kMaxDoublings = 4;
  return Millis(25) * (1 << (retries < kMaxDoublings ? retries : kMaxDoublings));
}

}  // namespace cronlatch::redis
