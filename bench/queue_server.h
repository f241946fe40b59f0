// SPDX-License-Identifier: Apache-2.0
// QueueServer: a real server of its own for ./dev bench queue, and the same wake-up without
// cronlatch.
#pragma once

#include <functional>
#include <memory>

#include "store/open.h"

namespace cronlatch::bench {

class QueueServer {
 public:
  virtual ~QueueServer() = default;
  virtual StoreSpec spec() const = 0;  // without TLS
  virtual std::size_t max_connections() const = 0;
  // Microseconds until a client that waits on the server is woken by another client.
  virtual double bare_wake_up() = 0;
  // The server has executed the request of the one client that listens.
  virtual bool is_listening() = 0;
  // The commands that the server executes during `work`, after `prepare`: Redis with those of
  // scripts, PostgreSQL the statements of clients.
  virtual int commands_of(const std::function<void()>& prepare,
                          const std::function<void()>& work) = 0;
};

std::unique_ptr<QueueServer> start_redis_for_queue();
std::unique_ptr<QueueServer> start_postgres_for_queue();

}  // namespace cronlatch::bench
