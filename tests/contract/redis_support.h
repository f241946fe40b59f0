// SPDX-License-Identifier: Apache-2.0
// What the tests of the Redis store share: a world made of a StoreSpec, and short questions about
// replies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "contract/contract.h"
#include "store/open.h"
#include "support/redis_server.h"

namespace cronlatch::testing {

class RedisWorld : public World {
 public:
  explicit RedisWorld(StoreSpec spec) : spec_(std::move(spec)) {}
  std::unique_ptr<Backend> open() override {
    auto backend = open_store(spec_);
    if (!backend) ADD_FAILURE() << backend.error().message;
    return std::move(backend).value();
  }
  void pass(Millis) override { ADD_FAILURE() << "a real server's time passes by itself"; }

 private:
  StoreSpec spec_;
};

inline StoreSpec spec_of(const std::string& url) {
  StoreSpec spec;
  spec.url = url;
  return spec;
}

inline std::string plain_url(const RedisServer& server) {
  return "redis://127.0.0.1:" + std::to_string(server.port());
}

// One program that uses the store of `spec`.
struct RedisProgram {
  explicit RedisProgram(const StoreSpec& spec, const std::string& owner = "aa11")
      : world(spec), program(world, "shop/report", owner) {}
  std::optional<Reply> operator()(const Request& request) { return program(request); }
  // A request that ends soon, for tests in which no answer comes.
  Acquire hasty_acquire(Millis patience = Millis(300)) const {
    Acquire request = program.acquire();
    request.give_up = boot_now() + patience;
    return request;
  }
  RedisWorld world;
  Program program;
};

inline const Granted* granted_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Granted>(&*reply) : nullptr;
}
inline const Unavailable* down_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Unavailable>(&*reply) : nullptr;
}

// For messages of failing tests: what the reply is.
inline std::string said(const std::optional<Reply>& reply) {
  if (!reply) return "no reply";
  if (const auto* down = std::get_if<Unavailable>(&*reply))
    return "down: " + down->error.message + " (" + down->error.hint + ")";
  return "reply " + std::to_string(reply->index());
}

}  // namespace cronlatch::testing
